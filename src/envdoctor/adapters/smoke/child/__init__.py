"""What runs inside the patient's interpreter: stdlib and torch alone, Python 3.8 and torch 1.13 or later.

Nothing outside the bundle imports this package; ``envdoctor.adapters.smoke.bundle`` packs it into one file.
"""
