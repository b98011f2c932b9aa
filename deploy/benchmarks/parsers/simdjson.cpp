// Reads change lines with simdjson's document parser (Debian 12 has 3.0.1) and looks at what a
// store needs: verb, nodes, names. Also on demand, which looks at nothing that is not asked for.
#include <simdjson.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace simdjson;
using Clock = std::chrono::steady_clock;

struct Change {
  std::string name, fromCollection, fromKey, toCollection, toKey, rule, value;
};

static std::string text(dom::element element) {
  return std::string(std::string_view(element));
}

static std::string text(ondemand::value value) {
  return std::string(std::string_view(value.get_string()));
}

static Change readTree(dom::parser &parser, const char *line, size_t length) {
  Change change;
  dom::element document = parser.parse(line, length, false);
  dom::element part;
  if (document["link"].get(part) == SUCCESS) {
    change.name = text(part["name"]);
    change.fromCollection = text(part["from"].at(0));
    change.fromKey = text(part["from"].at(1));
    change.toCollection = text(part["to"].at(0));
    change.toKey = text(part["to"].at(1));
    dom::element rules;
    if (part["rules"].get(rules) == SUCCESS) change.rule = text(rules.at(0));
  } else {
    change.fromCollection = text(document["put"].at(0));
    change.fromKey = text(document["put"].at(1));
    change.name = text(document["type"]);
    change.value = minify(dom::element(document["value"]));
  }
  return change;
}

static Change readOnDemand(ondemand::parser &parser, const char *line, size_t length, size_t room) {
  Change change;
  auto document = parser.iterate(line, length, room);
  for (auto field : document.get_object()) {
    std::string_view key = field.unescaped_key();
    if (key == "link") {
      for (auto member : field.value().get_object()) {
        std::string_view name = member.unescaped_key();
        if (name == "name") {
          change.name = text(member.value());
        } else if (name == "rules") {
          for (auto rule : member.value().get_array()) change.rule = text(rule.value());
        } else {
          bool from = name == "from", first = true;
          for (auto part : member.value().get_array()) {
            (from ? first ? change.fromCollection : change.fromKey
                  : first ? change.toCollection : change.toKey) = text(part.value());
            first = false;
          }
        }
      }
    } else if (key == "put") {
      bool first = true;
      for (auto part : field.value().get_array()) {
        (first ? change.fromCollection : change.fromKey) = text(part.value());
        first = false;
      }
    } else if (key == "type") {
      change.name = text(field.value());
    } else {
      ondemand::object value = field.value();
      change.value = std::string(std::string_view(value.raw_json()));
    }
  }
  return change;
}

template <typename Read>
static void report(const char *name, const padded_string &input, Read read) {
  double best = 1e9;
  for (int round = 0; round < 10; round++) {
    auto start = Clock::now();
    size_t sum = 0;
    const char *line = input.data(), *end = line + input.size();
    while (line < end) {
      const char *stop = static_cast<const char *>(memchr(line, '\n', end - line));
      sum += read(line, size_t(stop - line), size_t(end - line) + SIMDJSON_PADDING).fromKey.size();
      line = stop + 1;
    }
    if (sum == 0) abort();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  printf("%s %.0f MB/s\n", name, input.size() / 1e6 / best);
}

int main(int, char **argv) {
  padded_string input = padded_string::load(argv[1]);
  dom::parser tree;
  report("simdjson, document", input,
         [&](const char *line, size_t length, size_t) { return readTree(tree, line, length); });
  ondemand::parser onDemand;
  report("simdjson, on demand", input, [&](const char *line, size_t length, size_t room) {
    return readOnDemand(onDemand, line, length, room);
  });
}
