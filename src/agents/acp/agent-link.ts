// The link to one ACP agent, as its client: its name and capabilities, its sessions and prompts, and its requests to
// us. The official library speaks the protocol. Messages of the agent are read leniently, because agents omit different
// fields.
import {
  type AgentCapabilities,
  type AuthMethod,
  type ClientCapabilities,
  type ContentBlock,
  client,
  type McpServer,
  methods,
  type PermissionOption,
  PROTOCOL_VERSION,
  RequestError,
  type RequestPermissionOutcome,
  type SessionUpdate,
  type Stream,
  type ToolCallUpdate,
} from '@agentclientprotocol/sdk'
import { type Clock, SwitchboardError } from '../../contract/index.ts'
import { UPDATE_WITHIN } from './line-stream.ts'
import { readModes, type SessionModes } from './modes.ts'

export interface PermissionRequest {
  readonly sessionId: string
  readonly toolCall: Partial<ToolCallUpdate> & { readonly toolCallId: string }
  readonly options: readonly PermissionOption[]
}

/** What an agent may ask of its client, by method. An absent method is answered as unknown. */
export type ClientMethods = Readonly<
  Record<string, (params: Readonly<Record<string, unknown>>) => Promise<unknown>>
>

export interface LinkHandlers {
  onUpdate(sessionId: string, update: SessionUpdate): void
  /** Must answer in the end, also when the turn is over. */
  onPermission(request: PermissionRequest): Promise<RequestPermissionOutcome>
  readonly capabilities: ClientCapabilities
  readonly methods: ClientMethods
}

export interface AgentFacts {
  readonly name: string
  readonly version: string | null
  readonly capabilities: AgentCapabilities
  readonly authMethods: readonly AuthMethod[]
}

export interface SessionOrder {
  readonly cwd: string
  readonly mcpServers: readonly McpServer[]
}

export interface AgentLink {
  readonly facts: AgentFacts
  newSession(order: SessionOrder): Promise<{ readonly id: string; readonly modes: SessionModes }>
  /** The session's history arrives as updates before this resolves. */
  loadSession(id: string, order: SessionOrder): Promise<SessionModes>
  resumeSession(id: string, order: SessionOrder): Promise<SessionModes>
  setMode(id: string, mode: string): Promise<void>
  authenticate(methodId: string): Promise<void>
  /** `written` resolves when the request was written. `stopped` is the agent's stop reason. */
  prompt(id: string, blocks: readonly ContentBlock[]): { written: Promise<void>; stopped: Promise<string> }
  cancel(id: string): Promise<void>
  /** Whether it answers within the time. An error is an answer. */
  isAlive(withinMs: number): Promise<boolean>
  /** False when the pipe or the protocol broke. */
  isOpen(): boolean
  close(): void
}

const AUTH_REQUIRED = -32_000
/** Not a method of the protocol. A live agent answers that it does not know it. */
const PROBE = '_switchboard/alive'

/** Throws `agent_failed` if it does not speak the protocol within the time. */
export async function openLink(
  stream: Stream,
  handlers: LinkHandlers,
  {
    clock,
    withinMs,
    version,
  }: { readonly clock: Clock; readonly withinMs: number; readonly version: string },
): Promise<AgentLink> {
  const app = client({ name: 'switchboard' })
    .onRequest(methods.client.session.requestPermission, readPermission, async ({ params }) => ({
      outcome: await handlers.onPermission(params),
    }))
    .onNotification(UPDATE_WITHIN, readUpdate, ({ params }) => {
      if (params) handlers.onUpdate(params.sessionId, params.update)
    })
  for (const [method, run] of Object.entries(handlers.methods))
    app.onRequest(method, record, ({ params }) => run(params))
  // The agent's own notifications are ignored. They are no error.
  app.onNotification('*', () => undefined)
  let handedOver: () => void = () => undefined
  const connection = app.connect(watched(stream, () => handedOver()))
  const { agent, signal } = connection
  const close = () => connection.close()
  const within = <T>(work: Promise<T>, ms: number, what: string): Promise<T> => {
    let cancel = () => {}
    const late = new Promise<never>((_resolve, reject) => {
      cancel = clock.after(ms, () => reject(new SwitchboardError('agent_failed', what)))
    })
    return Promise.race([work, late]).finally(() => cancel())
  }
  const first = agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: handlers.capabilities,
    clientInfo: { name: 'switchboard', version },
  })
  const answer = await within(first, withinMs, `it did not answer "initialize" within ${withinMs / 1_000} s`)
  if (answer.protocolVersion !== PROTOCOL_VERSION) {
    close()
    throw new SwitchboardError(
      'agent_failed',
      `it speaks version ${answer.protocolVersion} of the protocol, and this one version ${PROTOCOL_VERSION}`,
    )
  }
  const modesOf = (opened: unknown) => readModes(opened, answer.agentInfo?.name ?? '')
  const ask = <T>(work: Promise<T>, what: string) =>
    within(work, withinMs, `it did not answer "${what}" in time`)
  const order = ({ cwd, mcpServers }: SessionOrder) => ({ cwd, mcpServers: [...mcpServers] })
  return {
    facts: {
      name: answer.agentInfo?.title ?? answer.agentInfo?.name ?? 'an ACP agent',
      version: answer.agentInfo?.version ?? null,
      capabilities: answer.agentCapabilities ?? {},
      authMethods: answer.authMethods ?? [],
    },
    async newSession(wanted) {
      const opened = await ask<{ sessionId: string }>(
        agent.request(methods.agent.session.new, order(wanted)),
        'session/new',
      )
      return { id: opened.sessionId, modes: modesOf(opened) }
    },
    loadSession: async (sessionId, wanted) =>
      modesOf(
        await ask(agent.request(methods.agent.session.load, { sessionId, ...order(wanted) }), 'session/load'),
      ),
    resumeSession: async (sessionId, wanted) =>
      modesOf(
        await ask(
          agent.request(methods.agent.session.resume, { sessionId, ...order(wanted) }),
          'session/resume',
        ),
      ),
    async setMode(sessionId, modeId) {
      await ask(agent.request(methods.agent.session.setMode, { sessionId, modeId }), 'session/set_mode')
    },
    async authenticate(methodId) {
      await ask(agent.request(methods.agent.authenticate, { methodId }), 'authenticate')
    },
    prompt(sessionId, blocks) {
      const written = new Promise<void>((resolve, reject) => {
        handedOver = resolve
        signal.addEventListener('abort', () => reject(new Error('the agent is gone')), { once: true })
      })
      written.catch(() => undefined)
      const stopped = agent
        .request(methods.agent.session.prompt, { sessionId, prompt: [...blocks] })
        .then(({ stopReason }) => String(stopReason))
      stopped.catch(() => undefined)
      return { written, stopped }
    },
    async cancel(sessionId) {
      await agent.notify(methods.agent.session.cancel, { sessionId })
    },
    async isAlive(ms) {
      const probe = agent.request(PROBE, {}).then(
        () => true,
        () => !signal.aborted,
      )
      return within(probe, ms, 'silent').catch(() => false)
    },
    isOpen: () => !signal.aborted,
    close,
  }
}

/** Whether the agent requires a sign-in first. */
export function isAuthRequired(thrown: unknown): boolean {
  return thrown instanceof RequestError && thrown.code === AUTH_REQUIRED
}

/** Returns the agent's error for people: bounded, on one line. */
export function problemOf(thrown: unknown): string {
  const data = thrown instanceof RequestError ? detailOf(thrown.data) : ''
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return `${message}${data === '' ? '' : `: ${data}`}`.replace(/[\s\p{Cc}]+/gu, ' ').slice(0, 500)
}

function detailOf(data: unknown): string {
  if (typeof data === 'string') return data.slice(0, 2_000)
  if (typeof data !== 'object' || data === null) return ''
  const { details, message } = data as { details?: unknown; message?: unknown }
  return [details, message]
    .filter((one): one is string => typeof one === 'string')
    .join(' ')
    .slice(0, 2_000)
}

/** Calls `prompted` when a prompt was written to the pipe. */
function watched({ readable, writable }: Stream, prompted: () => void): Stream {
  const writer = writable.getWriter()
  return {
    readable,
    writable: new WritableStream({
      async write(message) {
        await writer.write(message)
        if ('method' in message && message.method === methods.agent.session.prompt) prompted()
      },
      close: () => writer.close(),
      abort: (reason) => writer.abort(reason),
    }),
  }
}

function record(params: unknown): Readonly<Record<string, unknown>> {
  return typeof params === 'object' && params !== null ? (params as Record<string, unknown>) : {}
}

function readPermission(params: unknown): PermissionRequest {
  const { sessionId, toolCall, options } = record(params)
  const call = record(toolCall)
  if (typeof sessionId !== 'string' || typeof call.toolCallId !== 'string' || !Array.isArray(options))
    throw RequestError.invalidParams(undefined, 'sessionId, toolCall.toolCallId and options are needed')
  const offered = options.filter(
    (one): one is PermissionOption =>
      typeof record(one).optionId === 'string' && typeof record(one).kind === 'string',
  )
  return { sessionId, toolCall: call as unknown as PermissionRequest['toolCall'], options: offered }
}

/** Returns null if the params are not an update. */
function readUpdate(params: unknown): { sessionId: string; update: SessionUpdate } | null {
  const { sessionId, update } = record(params)
  const { sessionUpdate, toolCallId } = record(update)
  if (typeof sessionId !== 'string' || typeof sessionUpdate !== 'string') return null
  const ofTool = sessionUpdate === 'tool_call' || sessionUpdate === 'tool_call_update'
  if (ofTool && typeof toolCallId !== 'string') return null
  return { sessionId, update: update as SessionUpdate }
}
