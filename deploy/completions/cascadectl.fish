# fish completion for cascadectl

set -g __cascadectl_commands status apply node nodes edges fetch plan graph why sweep lease batches \
    undo delete erase jobs cancel protect unprotect protections deleted notices ack events spool approve reject check attach detach migrate roots pause resume reload \
    metrics inspect suggest top web

# The answer of the daemon that the line selects, if it runs: a line for each object.
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

# The first hundred nodes with simple keys, as collection/key.
function __cascadectl_nodes
    set -l word (commandline -ct)
    if string match -q '*/*' -- $word
        __cascadectl_ask nodes (string split -f 1 / -- $word) | head -n 100 |
            string replace -rf '^\{"node":\["([^"\\\\]*)","?([^]["\\\\]*)"?\].*' '$1/$2'
    else
        __cascadectl_collections | string replace -r '$' /
    end
end

function __cascadectl_jobs
    __cascadectl_ask jobs | string match -rag '"job":([0-9]+)' | tail -n 50
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
complete -c cascadectl -l json -d 'Print JSON'
complete -c cascadectl -s q -l quiet -d 'Print only errors'
complete -c cascadectl -s h -l help -d 'Show the usage'
complete -c cascadectl -l version -d 'Show the version'

complete -c cascadectl -n '__cascadectl_is apply inspect suggest' -F
complete -c cascadectl -n '__cascadectl_is node plan graph why fetch lease protect unprotect erase' -a '(__cascadectl_nodes)'
complete -c cascadectl -n '__cascadectl_is nodes deleted' -a '(__cascadectl_collections)'
complete -c cascadectl -n '__cascadectl_is edges' -l name -x -d 'The name of the edges'
complete -c cascadectl -n '__cascadectl_is edges' -l from -x -a '(__cascadectl_nodes)' -d 'The source'
complete -c cascadectl -n '__cascadectl_is edges' -l to -x -a '(__cascadectl_nodes)' -d 'The destination'
complete -c cascadectl -n '__cascadectl_is edges' -l count -d 'Only the number'
complete -c cascadectl -n '__cascadectl_is fetch' -l refresh -d 'Search again'
complete -c cascadectl -n '__cascadectl_is graph' -l format -x -a 'dot svg' -d 'The output format'
complete -c cascadectl -n '__cascadectl_is graph' -l depth -x -d 'The greatest distance in edges'
complete -c cascadectl -n '__cascadectl_is graph' -l limit -x -d 'The greatest number of nodes'
complete -c cascadectl -n '__cascadectl_is metrics' -l format -x -a 'openmetrics prometheus' -d 'The form of the text'
complete -c cascadectl -n '__cascadectl_is metrics' -l all -d 'All metrics of each store'
complete -c cascadectl -n '__cascadectl_is sweep' \
    -a 'cascade refcount dangling unreachable unreferenced files trash expired all'
complete -c cascadectl -n '__cascadectl_is sweep' -l dry-run -d 'Only tell what would be deleted'
complete -c cascadectl -n '__cascadectl_is sweep' -l no-wait -d 'Do not wait for the end'
complete -c cascadectl -n '__cascadectl_is lease' -l collection -x -a '(__cascadectl_collections)'
complete -c cascadectl -n '__cascadectl_is lease' -l owner -x -d 'The owner of the lease'
complete -c cascadectl -n '__cascadectl_is lease' -l for -x -d 'The duration'
complete -c cascadectl -n '__cascadectl_is lease' -l list -d 'List the leases'
complete -c cascadectl -n '__cascadectl_is lease' -l release -d 'End leases'
complete -c cascadectl -n '__cascadectl_is status' -l not-ok
complete -c cascadectl -n '__cascadectl_is batches' -l after -x -a '(__cascadectl_batches)'
complete -c cascadectl -n '__cascadectl_is batches' -l last -x
complete -c cascadectl -n '__cascadectl_is batches' -l since -x
complete -c cascadectl -n '__cascadectl_is undo' -a '(__cascadectl_batches)'
complete -c cascadectl -n '__cascadectl_is delete' -a '(__cascadectl_nodes)'
complete -c cascadectl -n '__cascadectl_is delete' -l where -x -d 'A condition for rows'
complete -c cascadectl -n '__cascadectl_is delete' -l dry-run -d 'Only tell what would be deleted'
complete -c cascadectl -n '__cascadectl_is delete' -l expect -x -d 'How many may go'
complete -c cascadectl -n '__cascadectl_is delete' -l partial -d 'Delete the rest'
complete -c cascadectl -n '__cascadectl_is delete' -l no-wait -d 'Do not wait for the end'
complete -c cascadectl -n '__cascadectl_is erase' -l dry-run -d 'Only tell what would be deleted'
complete -c cascadectl -n '__cascadectl_is erase' -l expect -x -d 'How many may go'
complete -c cascadectl -n '__cascadectl_is erase' -l report -rF -d 'Write a report'
complete -c cascadectl -n '__cascadectl_is erase' -l accept -x -d 'A column that was looked at'
complete -c cascadectl -n '__cascadectl_is erase' -l vacuum -d 'Rewrite the database'
complete -c cascadectl -n '__cascadectl_is jobs' -l after -x -a '(__cascadectl_jobs)'
complete -c cascadectl -n '__cascadectl_is protect' -l reason -x -d 'Why it must stay'
complete -c cascadectl -n '__cascadectl_is protect' -l until -x -d 'When that ends'
complete -c cascadectl -n '__cascadectl_is cancel' -a '(__cascadectl_jobs)'
complete -c cascadectl -n '__cascadectl_is deleted notices events' -l after -x -d 'Only after this number'
complete -c cascadectl -n '__cascadectl_is deleted notices events' -l follow -d 'Wait for new ones'
complete -c cascadectl -n '__cascadectl_is deleted' -l values -d 'What the nodes were'
complete -c cascadectl -n '__cascadectl_is spool' -a 'list retry drop (__cascadectl_spool)'
complete -c cascadectl -n '__cascadectl_is check' -l repair -d 'Create missing triggers and indexes'
complete -c cascadectl -n '__cascadectl_is check' -l limit -x -d 'The greatest number of findings'
complete -c cascadectl -n '__cascadectl_is migrate' -a 'begin end'
complete -c cascadectl -n '__cascadectl_is roots' -a take
complete -c cascadectl -n '__cascadectl_is attach' -l create-indexes -d 'Create missing indexes'
complete -c cascadectl -n '__cascadectl_is attach' -l create-constraints -d 'Create foreign keys that deny'
complete -c cascadectl -n '__cascadectl_is attach' -l create-functions -d 'Create functions that write rows of several owners'
complete -c cascadectl -n '__cascadectl_is attach' -l yes -d 'Do not ask'
complete -c cascadectl -n '__cascadectl_is inspect' -l root -x -a '(__fish_complete_directories)' -d 'The directory of the files'
complete -c cascadectl -n '__cascadectl_is inspect' -l html -rF -d 'Write a page for a browser'
complete -c cascadectl -n '__cascadectl_is inspect' -l format -x -a 'dot svg' -d 'The format of the picture'
complete -c cascadectl -n '__cascadectl_is web' -l port -x -d 'The port of the page'
complete -c cascadectl -n '__cascadectl_is web' -l read-only -d 'A page without buttons'
