// The rows of the channels reference that speak of Claude Code itself: its flags, dialogs, files and marketplace. Each is shown
// by a test of ours, or is Claude Code's own, with the reason.

export type SideRow = { readonly row: string } & (
  | { readonly shownBy: readonly string[] }
  | { readonly own: string }
)

const RUNS_THERE = 'it happens in the process of Claude Code; a server neither causes nor sees it'
const TERMINAL = 'a dialog of the terminal that Claude Code does not relay'

export const CLAUDE_CODE_SIDE: readonly SideRow[] = [
  { row: 'starts the server as a child and speaks stdio', shownBy: ['S6.ch-stdout-mcp', 'S6.ch-clean-end'] },
  {
    row: 'reads .mcp.json of the project, or ~/.claude.json with absolute paths',
    shownBy: ['I18.claude-absolute'],
  },
  { row: 'the flag --dangerously-load-development-channels server:NAME', shownBy: ['I35.b46-own-side'] },
  {
    row: 'the same flag with plugin:NAME@MARKETPLACE',
    shownBy: ['I18.claude-plugin-found', 'I35.b46-own-side'],
  },
  {
    row: 'the flag asks once more before it starts',
    own: `${TERMINAL}; the guide says that it comes on every start`,
  },
  {
    row: 'asks before it uses a new server of .mcp.json',
    own: `${TERMINAL}; the guide says that it comes once`,
  },
  { row: 'the banner line "Channels (experimental) …"', own: RUNS_THERE },
  {
    row: 'the flag --channels, which a bypass does not extend to',
    shownBy: ['S6.ch-plugin', 'S6.ch-doctor-why'],
  },
  {
    row: 'the approved allowlist, and allowedChannelPlugins of an organisation',
    shownBy: ['S6.ch-doctor-why'],
  },
  { row: 'the policy channelsEnabled', shownBy: ['S6.ch-doctor-why'] },
  { row: '/mcp in the session, ~/.claude/debug/*.txt', shownBy: ['S6.ch-doctor-why'] },
  { row: 'registers a listener only where the capability is declared', shownBy: ['S6.ch-capability'] },
  { row: 'adds instructions to the system prompt', shownBy: ['S6.ch-capability', 'S6.ch-real-binary'] },
  {
    row: 'wraps what is pushed into <channel source="NAME" …>',
    shownBy: ['S6.ch-plugin', 'S6.ch-notification'],
  },
  { row: 'drops keys of meta that are no identifiers, in silence', shownBy: ['F7.parse-bad-keys'] },
  {
    row: 'drops events in silence where the channel is not loaded',
    shownBy: ['S6.ch-unproven', 'I14.unproven-not-offline'],
  },
  { row: 'hands over together what came while it was busy', shownBy: ['S6.ch-busy-holds'] },
  { row: 'finds tools by the standard capability', shownBy: ['S6.ch-capability'] },
  {
    row: 'relays permissions from version 2.1.81 on',
    own: 'an older one ignores the capability; the guide names the version',
  },
  { row: 'relays no dialog on project trust or on a new MCP server', own: `${TERMINAL}; the guide says so` },
  {
    row: 'makes request_id, and takes a verdict only for an open one',
    shownBy: ['S6.ch-permission-in', 'S6.ch-permission-out'],
  },
  {
    row: 'leaves the local dialog open; the first answer counts',
    shownBy: ['S6.ch-expiry-no-verdict', 'S6.ch-passed-on'],
  },
  { row: 'cuts input_preview', shownBy: ['S6.ch-preview'] },
  {
    row: '/plugin install NAME@MARKETPLACE from a marketplace file',
    shownBy: ['S6.ch-real-binary', 'I35.b46-own-side'],
  },
  { row: 'the manifest of a plugin names its channels', shownBy: ['S6.ch-plugin'] },
  { row: 'a marketplace of one’s own still needs the development flag', shownBy: ['I35.b46-own-side'] },
  {
    row: 'the submission form, and talks with a partner of Anthropic',
    own: 'steps that people take with Anthropic',
  },
]
