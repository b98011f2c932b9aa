import StoreDefinition
import Testing

@Suite("Types of objects")
struct ObjectTypeTests {
  private let types = ObjectTypes(SQLiteUnderTest())

  @Test("A type within a collection has demands of its own")
  func demands() throws { try types.haveDemands() }

  @Test("Only sources of a relationship's own type count at its destination")
  func inverse() throws { try types.countAtTheInverse() }

  @Test("Neighbours of an object that becomes another type's are judged")
  func neighbours() throws { try types.judgeNeighbours() }

  @Test("A type's relationships are for its objects, and a change of type changes them")
  func relationships() throws { try types.haveRelationships() }

  @Test("References of one type's objects are removed, and an undo brings them back")
  func nullified() throws { try types.areNullified() }

  @Test("Only objects of the type that is counted are unreferenced")
  func unreferenced() throws { try types.areUnreferenced() }

  @Test("A type is no collection: a change that names it is refused")
  func typeAsCollection() throws { try types.areNoCollections() }
}
