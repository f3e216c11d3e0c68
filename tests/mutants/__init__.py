"""Mutation testing: is a small fault in the code seen by the tests of its folder?"""
