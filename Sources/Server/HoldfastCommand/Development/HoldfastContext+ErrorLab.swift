import ErrorLab

extension HoldfastContext: ErrorLabRequestContext {}
