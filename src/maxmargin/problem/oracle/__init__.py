"""The oracle: it turns a batch and an executor into planes, risks and bounds."""
