# fish completion for cascadectl

set -g __cascadectl_commands status apply node nodes edges fetch plan graph why sweep lease batches \
    undo notices ack events spool approve check attach detach pause resume reload metrics inspect \
    suggest

# What the daemon that the line names says, if there is one: a line for each object.
function __cascadectl_ask
    set -l words (commandline -opc)
    set -l target
    for option in --socket --store --instance
        if set -l index (contains -i -- $option $words)
            set -a target $option $words[(math $index + 1)]
        end
    end
    timeout 1 cascadectl $target --json $argv 2>/dev/null
end

function __cascadectl_stores
    __cascadectl_ask status | string match -rag '"store":"([^"\\\\]*)"'
end

# The collections of the first edges: the daemon lists no collections.
function __cascadectl_collections
    __cascadectl_ask edges | head -n 500 | string match -rag '"(?:from|to)":\["([^"\\\\]*)"' | sort -u
end

# As collection/key, of simple keys; the first hundred.
function __cascadectl_nodes
    set -l word (commandline -ct)
    if string match -q '*/*' -- $word
        __cascadectl_ask nodes (string split -f 1 / -- $word) | head -n 100 |
            string replace -rf '^\{"node":\["([^"\\\\]*)","?([^]["\\\\]*)"?\].*' '$1/$2'
    else
        __cascadectl_collections | string replace -r '$' /
    end
end

function __cascadectl_batches
    __cascadectl_ask batches | string match -rag '"batch":([0-9]+)' | tail -n 50
end

function __cascadectl_spool
    __cascadectl_ask spool | string match -rag '"file":"([^"\\\\]*)"'
end

function __cascadectl_instances
    set -l directories /run/cascaded/*/
    string replace -ra '^.*/([^/]+)/$' '$1' -- $directories
end

# The command of the line is one of these.
function __cascadectl_is
    __fish_seen_subcommand_from $argv
end

complete -c cascadectl -f
complete -c cascadectl -n "not __cascadectl_is $__cascadectl_commands" \
    -a "$__cascadectl_commands"
complete -c cascadectl -l socket -rF -d 'The control socket'
complete -c cascadectl -l store -rF -a '(__cascadectl_stores)' -d 'The store'
complete -c cascadectl -l instance -x -a '(__cascadectl_instances)' -d 'The instance of the service'
complete -c cascadectl -l json -d 'One object, or one a line'
complete -c cascadectl -s q -l quiet -d 'Nothing but errors'
complete -c cascadectl -s h -l help -d Explain
complete -c cascadectl -l version -d 'The version'

complete -c cascadectl -n '__cascadectl_is apply inspect suggest' -F
complete -c cascadectl -n '__cascadectl_is node plan graph why fetch lease' -a '(__cascadectl_nodes)'
complete -c cascadectl -n '__cascadectl_is nodes' -a '(__cascadectl_collections)'
complete -c cascadectl -n '__cascadectl_is edges' -l name -x -d 'Of this name'
complete -c cascadectl -n '__cascadectl_is edges' -l from -x -a '(__cascadectl_nodes)' -d 'From a node'
complete -c cascadectl -n '__cascadectl_is edges' -l to -x -a '(__cascadectl_nodes)' -d 'To a node'
complete -c cascadectl -n '__cascadectl_is edges' -l count -d 'Only how many'
complete -c cascadectl -n '__cascadectl_is fetch' -l refresh -d 'Look again'
complete -c cascadectl -n '__cascadectl_is graph' -l format -x -a 'dot svg' -d 'The language'
complete -c cascadectl -n '__cascadectl_is graph' -l depth -x -d 'So many edges'
complete -c cascadectl -n '__cascadectl_is graph' -l limit -x -d 'So many nodes'
complete -c cascadectl -n '__cascadectl_is sweep' \
    -a 'cascade refcount dangling unreachable files trash all'
complete -c cascadectl -n '__cascadectl_is sweep' -l dry-run -d 'Only tell'
complete -c cascadectl -n '__cascadectl_is sweep' -l no-wait -d 'Do not wait'
complete -c cascadectl -n '__cascadectl_is lease' -l collection -x -a '(__cascadectl_collections)'
complete -c cascadectl -n '__cascadectl_is lease' -l owner -x -d 'Whose it is'
complete -c cascadectl -n '__cascadectl_is lease' -l for -x -d 'How long'
complete -c cascadectl -n '__cascadectl_is lease' -l list -d 'Who holds what'
complete -c cascadectl -n '__cascadectl_is lease' -l release -d 'End leases'
complete -c cascadectl -n '__cascadectl_is batches' -l after -x -a '(__cascadectl_batches)'
complete -c cascadectl -n '__cascadectl_is undo' -a '(__cascadectl_batches)'
complete -c cascadectl -n '__cascadectl_is notices events' -l after -x -d 'Behind a number'
complete -c cascadectl -n '__cascadectl_is notices events' -l follow -d 'Go on'
complete -c cascadectl -n '__cascadectl_is spool' -a 'list retry drop (__cascadectl_spool)'
complete -c cascadectl -n '__cascadectl_is check' -l repair -d 'Make triggers and indexes'
complete -c cascadectl -n '__cascadectl_is check' -l limit -x -d 'List so many'
complete -c cascadectl -n '__cascadectl_is attach' -l create-indexes -d 'Make missing indexes'
complete -c cascadectl -n '__cascadectl_is inspect' -l root -x -a '(__fish_complete_directories)' -d 'Where files are'
complete -c cascadectl -n '__cascadectl_is inspect' -l html -rF -d 'A page for a browser'
complete -c cascadectl -n '__cascadectl_is inspect' -l format -x -a 'dot svg' -d 'A picture'
