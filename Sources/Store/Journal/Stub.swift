internal import SQLite
extension Connection { func watches() throws -> [Watch] { [] } }
