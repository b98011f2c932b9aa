import Model
import Testing

@Suite struct JSONTests {
  @Test func `An object keeps the order of its members`() throws {
    let json = try JSON.parse(#"{"b": 1, "a": [true, null, "x", 1.5, -7]}"#)
    #expect(json == ["b": 1, "a": [true, nil, "x", 1.5, -7]])
    #expect(json.text == #"{"b":1,"a":[true,null,"x",1.5,-7]}"#)
    #expect(json["a"]?.array?.count == 5)
  }
}
