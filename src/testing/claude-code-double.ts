// A double of Claude Code's side of a channel, for tests of this and other projects: the probe, the handshake, the
// gates of registration with their texts, the envelope that the model sees, and permission requests with their ids. It
// follows the observed behaviour of version 2.1.325. The script of the test plays the model.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { defined } from '../contract/index.ts'
import { type ChannelSession, closedGate, pluginServerName } from './claude-code-gates.ts'

export interface ClaudeCodeOptions extends ChannelSession {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** The name in the project's .mcp.json. The server of a plugin has its own name. */
  readonly serverName?: string
  readonly sessionId?: string
  readonly prefix?: 'claude' | 'nexo'
}

export interface ToolResult {
  readonly text: string
  readonly isError: boolean
  readonly structured: Readonly<Record<string, unknown>>
  /** All texts of the content. The result's own text is first. */
  readonly blocks: readonly string[]
}

export interface ChannelPrompt {
  /** The message as the model sees it. */
  readonly envelope: string
  readonly content: string
  readonly meta: Readonly<Record<string, string>>
}

export interface PermissionRequest {
  readonly toolName: string
  readonly description: string
  readonly inputPreview: string
}

export interface OpenPermission {
  readonly id: string
  readonly decided: Promise<'allow' | 'deny'>
  /** Answers in the dialog of the terminal. The first answer, here or by the channel, counts. */
  answerInTerminal(behavior: 'allow' | 'deny'): void
}

export interface ClaudeCode {
  readonly pid: number
  readonly sessionId: string
  /** Null when registered as a channel. Otherwise the reason of the closed gate, as in the debug log. */
  readonly skipped: string | null
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions: string
  readonly tools: readonly { readonly name: string; readonly _meta?: Readonly<Record<string, unknown>> }[]
  readonly prompts: readonly ChannelPrompt[]
  /** Lines on the server's stdout that are not MCP. */
  readonly noise: readonly string[]
  stderr(): string
  /** What the model does with a message. It also gets the messages from before it was set. */
  onPrompt: (prompt: ChannelPrompt, self: ClaudeCode) => void
  call(tool: string, input: object, toolUseId?: string): Promise<ToolResult>
  ask(request: PermissionRequest): OpenPermission
  /** Writes any bytes to the server's stdin. */
  write(bytes: string | Buffer): void
  endInput(): void
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  /** Ends the server as Claude Code does: with SIGINT, and the end of its input. */
  close(): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  kill(signal: NodeJS.Signals): void
}

interface Rpc {
  readonly id?: number | string
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string }
}

/** The client's identity in the probe and in the handshake. */
const CLIENT_INFO = { name: 'claude-code', version: '2.1.325' }
const CLIENT_CAPABILITIES = { roots: {}, elicitation: { form: {}, url: {} } }

/** Spawns the server and starts a session. Throws when the server ends or `initialize` fails. */
export async function startClaudeCode(options: ClaudeCodeOptions): Promise<ClaudeCode> {
  const { prefix = 'claude', plugin } = options
  const serverName = plugin ? pluginServerName(plugin) : (options.serverName ?? 'switchboard')
  const sessionId = options.sessionId ?? randomUUID()
  const child: ChildProcess = spawn(options.command, [...options.args], {
    cwd: options.cwd,
    env: {
      ...options.env,
      CLAUDECODE: '1',
      CLAUDE_CODE_ENTRYPOINT: 'cli',
      CLAUDE_CODE_SESSION_ID: sessionId,
      ...defined({ CLAUDE_PROJECT_DIR: options.cwd }),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const prompts: ChannelPrompt[] = []
  const noise: string[] = []
  const waiting = new Map<number | string, (answer: Rpc) => void>()
  const dialogs = new Map<string, (behavior: 'allow' | 'deny') => void>()
  const usedIds = new Set<string>()
  let errors = ''
  let number = 0
  let registered = false
  // Messages wait until the test has set the script of the model.
  let script: ClaudeCode['onPrompt'] | null = null
  const unread: ChannelPrompt[] = []

  child.stdin?.on('error', () => undefined)
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk
  })
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => {
      resolve({ code, signal })
      for (const [id, answer] of waiting)
        answer({ id, error: { code: -32000, message: 'Connection closed' } })
      waiting.clear()
    })
    child.once('error', () => resolve({ code: null, signal: null }))
  })

  const write = (bytes: string | Buffer) => void child.stdin?.write(bytes)
  const send = (message: Rpc) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const request = (method: string, params: Readonly<Record<string, unknown>>): Promise<Rpc> => {
    const id = ++number
    return new Promise((resolve) => {
      waiting.set(id, resolve)
      send({ id, method, params })
    })
  }

  const take = (message: Rpc) => {
    if (message.method === undefined) {
      if (message.id === undefined) return
      waiting.get(message.id)?.(message)
      waiting.delete(message.id)
    } else if (message.method === `notifications/${prefix}/channel`) prompt(message.params ?? {})
    else if (message.method === `notifications/${prefix}/channel/permission`) verdict(message.params ?? {})
    else if (message.id !== undefined)
      send({ id: message.id, error: { code: -32601, message: 'Method not found' } })
  }

  /** Drops messages silently when not registered. A meta value that is no string drops the whole message. */
  const prompt = ({ content, meta = {} }: Readonly<Record<string, unknown>>) => {
    if (!registered || typeof content !== 'string' || typeof meta !== 'object' || meta === null) return
    const values = Object.entries(meta)
    if (values.some(([, value]) => typeof value !== 'string')) return
    const kept = Object.fromEntries(values.filter(([key]) => /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(key)))
    const one = { envelope: envelopeOf(serverName, kept, content), content, meta: kept }
    prompts.push(one)
    if (script) script(one, self)
    else unread.push(one)
  }

  /** Silently drops a verdict with an unknown or already answered id. */
  const verdict = ({ request_id: id, behavior }: Readonly<Record<string, unknown>>) => {
    if (typeof id !== 'string' || (behavior !== 'allow' && behavior !== 'deny')) return
    dialogs.get(id)?.(behavior)
    dialogs.delete(id)
  }

  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
      const line = text.slice(0, end)
      text = text.slice(end + 1)
      const message = rpcOf(line)
      if (message) take(message)
      else noise.push(line)
    }
  })

  // The probe comes first. A server that answers it is connected as a modern one, which has no channels.
  const probe = await request('server/discover', {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
      'io.modelcontextprotocol/clientCapabilities': CLIENT_CAPABILITIES,
    },
  })
  const modern = probe.result !== undefined
  const opened = await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: CLIENT_CAPABILITIES,
    clientInfo: CLIENT_INFO,
  })
  if (opened.result === undefined) throw new Error(`initialize failed: ${opened.error?.message}\n${errors}`)
  send({ method: 'notifications/initialized' })
  const capabilities = recordOf(opened.result.capabilities)
  const experimental = recordOf(capabilities.experimental)
  const declared = `${prefix}/channel` in experimental
  const skipped = closedGate(options, { name: serverName, declared, modern })
  registered = skipped === null
  const listed = await request('tools/list', {})
  const relays = registered && (experimental[`${prefix}/channel/permission`] ?? false) !== false

  const end = (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
  }
  const self: ClaudeCode = {
    pid: child.pid ?? 0,
    sessionId,
    skipped,
    capabilities,
    instructions: String(opened.result.instructions ?? ''),
    tools: (listed.result?.tools ?? []) as ClaudeCode['tools'],
    prompts,
    noise,
    stderr: () => errors,
    get onPrompt() {
      return script ?? (() => undefined)
    },
    set onPrompt(act) {
      script = act
      for (const one of unread.splice(0)) act(one, self)
    },
    async call(name, input, toolUseId = `toolu_${randomBytes(12).toString('hex')}`) {
      const _meta = { progressToken: number + 1, 'claudecode/toolUseId': toolUseId }
      const answer = await request('tools/call', { name, arguments: input, _meta })
      if (answer.result === undefined)
        return { text: answer.error?.message ?? '', isError: true, structured: { code: 'rpc' }, blocks: [] }
      const { content, structuredContent, _meta: meta } = answer.result
      const blocks = ((content ?? []) as readonly { readonly text?: string }[]).map(({ text }) => text ?? '')
      const [first = ''] = blocks
      return {
        blocks,
        // The model sees only the structured content if there is any, and never the text beside it.
        text: structuredContent === undefined ? first : JSON.stringify(structuredContent),
        isError: answer.result.isError === true,
        structured: recordOf(structuredContent ?? recordOf(meta)['switchboard/result']),
      }
    },
    ask({ toolName, description, inputPreview }) {
      const id = freshId(usedIds)
      let answer: (behavior: 'allow' | 'deny') => void = () => undefined
      const decided = new Promise<'allow' | 'deny'>((resolve) => {
        answer = resolve
      })
      dialogs.set(id, answer)
      if (relays)
        send({
          method: `notifications/${prefix}/channel/permission_request`,
          params: { request_id: id, tool_name: toolName, description, input_preview: inputPreview },
        })
      return {
        id,
        decided,
        answerInTerminal(behavior) {
          answer(behavior)
          dialogs.delete(id)
        },
      }
    },
    write,
    endInput: () => void child.stdin?.end(),
    exited,
    close() {
      end('SIGINT')
      child.stdin?.end()
      return exited
    },
    kill: end,
  }
  return self
}

const NAMED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

function envelopeOf(source: string, meta: Readonly<Record<string, string>>, content: string): string {
  const escaped = (value: string) => value.replace(/[&<>"']/g, (one) => NAMED[one] ?? one)
  const attributes = Object.entries({ source, ...meta }).map(([key, value]) => ` ${key}="${escaped(value)}"`)
  const body = content.replace(/<(?=\s*\/?\s*channel\b)/gi, '&lt;')
  return `<channel${attributes.join('')}>\n${body}\n</channel>`
}

const LETTERS = 'abcdefghijkmnopqrstuvwxyz'

function freshId(used: Set<string>): string {
  for (;;) {
    const id = [...randomBytes(5)].map((byte) => LETTERS[byte % LETTERS.length]).join('')
    if (used.has(id)) continue
    used.add(id)
    return id
  }
}

function rpcOf(line: string): Rpc | null {
  try {
    const parsed = JSON.parse(line) as Rpc & { readonly jsonrpc?: string }
    return parsed.jsonrpc === '2.0' ? parsed : null
  } catch {
    return null
  }
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
