public let usage = "usage: Music model STORE.db | Music run STORE.db"
