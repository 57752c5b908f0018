// Resumes the agent's own session of a conversation, or begins one. `resume` is preferred, because it replays nothing.
// After an interruption `load` is preferred, because its replay shows whether the agent has the message.
import type { SessionUpdate } from '@agentclientprotocol/sdk'
import { SwitchboardError } from '../../contract/index.ts'
import { type AgentLink, isAuthRequired, problemOf, type SessionOrder } from './agent-link.ts'
import type { SessionModes } from './modes.ts'

export interface OpenedSession {
  readonly id: string
  /**
   * `new`: there was no session. `kept`: the agent remembers the conversation. `lost`: the agent no longer has its
   * session.
   */
  readonly memory: 'new' | 'kept' | 'lost'
  /** The texts of people that the agent replayed; null: it was not asked, or replays none. */
  readonly userTexts: string | null
  /** The present modes, after the configured one was set. */
  readonly modes: SessionModes
}

export interface OpenOrder extends SessionOrder {
  /** The agent's id of the session from an earlier run; null: none. */
  readonly known: string | null
  readonly interrupted: boolean
  /** The configured mode; null: the agent's own. */
  readonly mode: string | null
  /** The configured way to sign in. */
  readonly auth: string | null
}

/** The last part of a replay, which is searched. */
const MOST_CHARS = 8_000_000

/** `listen` receives all updates of the link until the returned function is called. */
export async function openSession(
  link: AgentLink,
  order: OpenOrder,
  listen: (hear: (update: SessionUpdate) => void) => () => void,
): Promise<OpenedSession> {
  try {
    return await inMode(link, order, await taken(link, order, listen))
  } catch (thrown) {
    if (!isAuthRequired(thrown)) throw thrown
    await signIn(link, order.auth)
    const opened = await taken(link, order, listen).catch((again) => {
      throw isAuthRequired(again) ? notSignedIn(link) : again
    })
    return inMode(link, order, opened)
  }
}

/** Throws `agent_absent` if the agent does not take the configured mode: it might run tools without asking. */
async function inMode(link: AgentLink, { mode }: OpenOrder, opened: OpenedSession): Promise<OpenedSession> {
  const { current, available } = opened.modes
  if (mode === null || mode === current) return opened
  const names = available.map(({ id }) => id).join(', ')
  const hint = `connector.mode is one of: ${names === '' ? '(this agent has no modes)' : names}`
  if (!available.some(({ id }) => id === mode))
    throw new SwitchboardError('agent_absent', `${link.facts.name} has no mode "${mode}"`, { hint })
  await link.setMode(opened.id, mode).catch((thrown) => {
    throw new SwitchboardError('agent_absent', `it does not take the mode "${mode}": ${problemOf(thrown)}`, {
      hint,
    })
  })
  return { ...opened, modes: { ...opened.modes, current: mode } }
}

async function taken(
  link: AgentLink,
  order: OpenOrder,
  listen: (hear: (update: SessionUpdate) => void) => () => void,
): Promise<OpenedSession> {
  const { known, interrupted } = order
  const { loadSession, sessionCapabilities } = link.facts.capabilities
  const canResume = sessionCapabilities?.resume !== undefined && sessionCapabilities.resume !== null
  if (known !== null) {
    const ways = [
      ...(loadSession === true ? ['load' as const] : []),
      ...(canResume ? ['resume' as const] : []),
    ]
    for (const way of interrupted ? ways : ways.toReversed()) {
      const opened = await (way === 'load'
        ? loaded(link, known, order, listen)
        : resumed(link, known, order)
      ).catch((thrown) => {
        if (isAuthRequired(thrown)) throw thrown
        return null
      })
      if (opened) return opened
    }
  }
  const { id, modes } = await link.newSession(order)
  return { id, memory: known === null ? 'new' : 'lost', userTexts: null, modes }
}

async function loaded(
  link: AgentLink,
  id: string,
  order: SessionOrder,
  listen: (hear: (update: SessionUpdate) => void) => () => void,
): Promise<OpenedSession> {
  let texts = ''
  const done = listen((update) => {
    if (update.sessionUpdate !== 'user_message_chunk' || update.content?.type !== 'text') return
    texts = `${texts}${update.content.text}\n`.slice(-MOST_CHARS)
  })
  try {
    const modes = await link.loadSession(id, order)
    return { id, memory: 'kept', userTexts: texts === '' ? null : texts, modes }
  } finally {
    done()
  }
}

async function resumed(link: AgentLink, id: string, order: SessionOrder): Promise<OpenedSession> {
  return { id, memory: 'kept', userTexts: null, modes: await link.resumeSession(id, order) }
}

async function signIn(link: AgentLink, auth: string | null): Promise<void> {
  const method = link.facts.authMethods.find(({ id }) => id === auth)
  // A sign-in that needs a terminal cannot be done here.
  if (auth === null || !method || ('type' in method && method.type === 'terminal')) throw notSignedIn(link)
  await link.authenticate(auth).catch((thrown) => {
    throw new SwitchboardError('agent_absent', `it could not sign in: ${problemOf(thrown)}`)
  })
}

function notSignedIn({ facts }: AgentLink): SwitchboardError {
  const ways = facts.authMethods.map((method) => {
    const name = `${method.name} (${method.id})`
    if (!('type' in method) || method.type !== 'terminal') return name
    const args = 'args' in method && Array.isArray(method.args) ? method.args.join(' ') : ''
    return `${name}: in a terminal${args === '' ? '' : `, with ${args}`}`
  })
  const hint =
    ways.length === 0
      ? 'Sign in with the program itself, in a terminal, as the user that runs Switchboard.'
      : `Ways to sign in: ${ways.join('; ').slice(0, 500)}. Do it in a terminal as the user that runs Switchboard, or name one that needs none in connector.auth.`
  return new SwitchboardError('agent_absent', `${facts.name} is not signed in`, {
    hint,
    retryAfterMs: 60_000,
  })
}
