"""recourse"""
