"""What a pasted log tells by itself: failures, conflicts that resolvers print, demands that are not met."""
