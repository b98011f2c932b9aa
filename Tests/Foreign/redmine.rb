# What people do with Redmine, by Redmine's own models: operations of making, changing and deleting,
# each for itself. For `bin/rails runner`; tells as JSON how many there were, and which failed.
# With `make` as the argument only those that make something run, more often.
require "json"

MORE = ARGV == ["make"] ? 6 : 1

User.current = User.find_by!(admin: true)
# Mail is written by other threads with connections of their own otherwise.
ActiveJob::Base.queue_adapter = :inline
Setting.enabled_scm = ["Filesystem"]

class Operations
  MOST_TRIES = 50

  attr_reader :count, :failed

  def initialize
    @count, @failed = 0, []
  end

  # Tries again what SQLite refused, so that later operations find what they need.
  def run(name)
    @count += 1
    (1..MOST_TRIES).each do |attempt|
      return yield
    rescue ActiveRecord::StatementInvalid => error
      raise unless error.message.include?("locked")
      @failed << name if attempt == 1
      sleep 0.02
    end
    abort "#{name} fails for ever"
  end
end

WORK = Operations.new

def make(name) = MORE.times.map { |number| WORK.run(name) { yield number + 1 } }.last

PAUSES = Random.new(57)

# As a person takes a moment, in which the sweep begins.
def work(name, &body)
  return if MORE > 1
  WORK.run(name, &body)
  sleep PAUSES.rand(0.04)
end

def upload(name)
  Attachment.create!(file: "the content of #{name}", filename: name, author: User.current,
                     content_type: "text/plain")
end

def save_issue(project, subject, **values)
  Issue.new(
    project: project, tracker: project.trackers.sort.first, author: User.current,
    priority: IssuePriority.default, subject: subject, **values).tap(&:save!)
end

def edit(issue, notes, **values)
  issue.reload.init_journal(User.current, notes)
  issue.attributes = values
  issue.save!
end

def write_page(wiki, title, text, **values)
  page = wiki.pages.find_by(title: title) || WikiPage.new(wiki: wiki, title: title, **values)
  page.content ||= WikiContent.new(page: page)
  page.content.text = text
  page.content.author = User.current
  page.save_with_content(page.content) or raise page.errors.full_messages.join
  page
end

# Making

user = make("a user") do |n|
  User.new(firstname: "Ada#{n}", lastname: "Lovelace", mail: "ada#{n}@example.org",
           password: "a long password").tap { |one| one.login = "ada#{n}"; one.save! }
end
other = make("another user") do |n|
  User.new(firstname: "Ben#{n}", lastname: "Nevis", mail: "ben#{n}@example.org",
           password: "a long password").tap { |one| one.login = "ben#{n}"; one.save! }
end
group = make("a group") { |n| Group.create!(lastname: "Testers #{n}") }
make("members of a group") { |n| Group.givable.to_a[n - 1].users << User.active.last(n) }
field = make("a custom field of issues") do |n|
  IssueCustomField.create!(name: "Build #{n}", field_format: "string", is_for_all: true,
                           trackers: Tracker.all.to_a)
end
user_field = make("a custom field of users") do |n|
  UserCustomField.create!(name: "Room #{n}", field_format: "string")
end
project = make("a project") do |n|
  Project.create!(name: "Engine #{n}", identifier: "engine-#{n}", trackers: Tracker.all.to_a)
end
child = make("a project in it") do |n|
  Project.create!(name: "Mill #{n}", identifier: "mill-#{n}", trackers: Tracker.all.to_a)
         .tap { |one| one.set_parent!(project) }
end
make("members") do |n|
  Member.create!(project: Project.find_by!(identifier: "engine-#{n}"), principal: user,
                 roles: Role.givable.to_a.first(2))
end
make("a group as a member") do |n|
  Member.create!(project: Project.find_by!(identifier: "mill-#{n}"), principal: group,
                 roles: [Role.givable.to_a[n % 3]])
end
version = make("a version") { |n| Version.create!(project: project, name: "1.#{n}") }
category = make("a category") do |n|
  IssueCategory.create!(project: project, name: "Gears #{n}", assigned_to: user)
end
issue = make("an issue") do |n|
  save_issue(project, "A gear is missing #{n}", category: category, fixed_version: version,
             assigned_to: user, custom_field_values: {field.id.to_s => "b#{n}"})
end
subtask = make("a subtask") { |n| save_issue(project, "Find it #{n}", parent_issue_id: issue.id) }
twin = make("an issue of another user") do |n|
  save_issue(project, "Two gears are missing #{n}", author: user, status: IssueStatus.all[n % 3])
end
relation = make("a relation") do |n|
  IssueRelation.create!(issue_from: Issue.find_by!(subject: "A gear is missing #{n}"),
                        issue_to: twin, relation_type: "relates")
end
make("a note") { |n| edit(issue, "It is below the table #{n}", done_ratio: n * 10) }
make("a watcher") { |n| Issue.all[n * 2].add_watcher(n.odd? ? user : other) }
file = make("a file of an issue") do |n|
  upload("gear#{n}.txt").tap { |one| issue.reload.attachments << one }
end
entry = make("a time entry") do |n|
  TimeEntry.create!(project: project, issue: issue, user: user, author: User.current, hours: n,
                    activity: TimeEntryActivity.shared.to_a[n % 2], spent_on: Date.today)
end
wiki = WORK.run("a wiki") do
  project.reload.wiki || Wiki.create!(project: project, start_page: "Wiki")
end
page = make("a page") { |n| write_page(wiki, "Wiki#{n}", "The engine turns.") }
make("a page below it") { |n| write_page(wiki, "Oil#{n}", "A drop a day.", parent: page) }
make("a file of a page") { |n| upload("oil#{n}.txt").tap { |one| page.attachments << one } }
news = make("news") do |n|
  News.create!(project: project, title: "It turns #{n}", description: "Slowly.", author: user)
end
make("a comment") { |n| news.comments.create!(author: other, comments: "Well done #{n}.") }
board = make("a board") do |n|
  Board.create!(project: project, name: "Help #{n}", description: "Questions")
end
topic = make("a message") do |n|
  Message.create!(board: board, subject: "How? #{n}", content: "How does it turn?", author: user)
end
make("a reply") do |n|
  Message.create!(board: board, parent: topic, subject: "RE: How?", content: "#{n}", author: other)
end
document = make("a document") do |n|
  Document.create!(project: project, title: "Drawing #{n}", category: DocumentCategory.first)
end
make("a file of a document") do |n|
  upload("plan#{n}.txt").tap { |one| document.attachments << one }
end
query = make("a query") do |n|
  IssueQuery.create!(name: "Mine #{n}", project: project, user: user,
                     visibility: Query::VISIBILITY_ROLES, roles: Role.givable.to_a.first(2))
end
make("a value of a user's field") do |n|
  user.reload.custom_field_values = {user_field.id.to_s => "12#{n}"}
  user.save!
end
repository = make("a repository and its changes") do |n|
  one = Repository::Filesystem.create!(project: project, url: "/srv/#{n}", identifier: "r#{n}",
                                       path_encoding: "UTF-8")
  set = Changeset.create!(repository: one, revision: "1", committed_on: Time.now, user: user,
                          comments: "refs ##{issue.id}")
  Change.create!(changeset: set, action: "A", path: "/gear")
  set.issues << issue unless set.issues.include?(issue)
  Changeset.create!(repository: one, revision: "2", committed_on: Time.now, comments: "more",
                    parents: [set])
  one
end

# Changing and deleting, one after the other: a sweep follows each deletion, beside what comes next.
# `destroy!` deletes what belongs to the row, too; `delete` leaves that to Cascade.

work("delete a file") { file.reload.delete }
work("log time") do
  TimeEntry.create!(project: project, issue: twin, user: user, author: user, hours: 2,
                    activity: TimeEntryActivity.default || TimeEntryActivity.first,
                    spent_on: Date.today)
end
work("delete a time entry") { entry.reload.delete }
work("answer") { edit(issue, "Found it", status: IssueStatus.where(is_closed: false).last) }
work("delete a relation") { relation.reload.destroy! }
work("assign") { edit(twin, "Yours", assigned_to: user, category: category) }
work("delete a note") { issue.reload.journals.first.delete }
work("plan") { edit(twin, "Later", fixed_version: version, due_date: Date.today + 9) }
work("delete a category") { category.reload.destroy! }
work("copy an issue") { Issue.new.copy_from(twin.reload).tap { |one| one.subject = "Again" }.save! }
work("delete a page") { wiki.pages.find_by!(title: "Oil1").delete }
work("change a page") { write_page(wiki, "Wiki1", "The engine turns again.") }
work("delete a reply") { topic.reload.children.first.destroy! }
work("reply") do
  Message.create!(board: board, parent: topic.reload, subject: "RE: How?", content: "so",
                  author: user)
end
work("delete news") { news.reload.delete }
work("tell news") do
  News.create!(project: project, title: "It stands", description: "Still.", author: other)
end
work("delete a subtask") { subtask.reload.destroy! }
work("add a subtask") { save_issue(project, "Oil it", parent_issue_id: twin.reload.id) }
work("delete an issue") { issue.reload.destroy! }
work("close an issue") { edit(twin, "Done", status: IssueStatus.where(is_closed: true).first) }
work("delete a version") { version.reload.destroy! }
work("move an issue") { edit(twin, "To the mill", project: child.reload) }
work("leave a group") { group.reload.users.delete(group.users.to_a) }
work("change a user") { user.reload.update!(lastname: "King") }
work("delete a board") { board.reload.delete }
work("change the modules") { project.reload.enabled_module_names = %w[issue_tracking wiki news] }
work("delete a document") { document.reload.delete }
work("change the custom field") { field.reload.update!(default_value: "b1") }
work("delete a repository") { repository.reload.delete }
work("delete the custom field") { field.reload.delete }
work("delete a user") { other.reload.destroy! }
work("delete a group") { group.reload.destroy! }
work("close a project") { child.reload.close }
work("delete the projects") { project.reload.destroy! }
work("rename a user") { user.reload.update!(firstname: "Augusta") }

puts JSON.generate(operations: WORK.count, failed: WORK.failed)
