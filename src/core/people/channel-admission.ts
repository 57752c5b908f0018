// Which channel servers count for a tool call or a question: the servers that the binding of the work admits. A host
// without a session token may work on turns of several bindings at once. Then only servers that all of these bindings
// admit count.
import {
  type Address,
  type AgentSettings,
  address,
  agentById,
  type Binding,
  isServerBinding,
  MOST_HELD,
  parseAddress,
  SCHEDULE_PLACE,
  type Settings,
  type Store,
  type ToolCaller,
} from '../../contract/index.ts'
import type { Links } from '../links.ts'
import { boundAt } from './routing.ts'

export interface Admission {
  /** The binding, or the agent where no binding can be named. */
  readonly id: string
  /** Null: the work comes from no place, so all servers of the agent count. */
  readonly servers: readonly string[] | null
}

export interface AdmissionDeps {
  readonly store: Pick<Store, 'turn' | 'session'>
  readonly settings: () => Settings
  readonly links: Pick<Links, 'get'>
}

type Asker = Pick<ToolCaller, 'agent' | 'session' | 'turn' | 'host'>

export async function admissionOf(asker: Asker, deps: AdmissionDeps): Promise<Admission> {
  const agent = agentById(deps.settings(), asker.agent)
  const { host } = asker
  if (asker.session !== null || host === undefined)
    return admissionAt(asker.agent, agent, await placeOf(asker, deps), deps)
  if (!host.used) return { id: asker.agent, servers: null }
  return admissionOfOpen(host.open, asker, deps)
}

/**
 * Returns the admission for a permission request. For a host without a session token, the binding of its newest open
 * turn counts.
 */
export async function admissionOfAsk(asker: Asker, deps: AdmissionDeps): Promise<Admission> {
  const newest = asker.host?.open.at(-1)
  if (asker.session !== null || newest === undefined) return admissionOf(asker, deps)
  return admissionOfOpen([newest], asker, deps)
}

async function admissionOfOpen(
  open: readonly string[],
  asker: Asker,
  deps: AdmissionDeps,
): Promise<Admission> {
  const agent = agentById(deps.settings(), asker.agent)
  const found: Admission[] = []
  for (const turn of open) {
    const place = await placeOf({ ...asker, turn }, deps)
    if (place) found.push(admissionAt(asker.agent, agent, place, deps))
  }
  return found.length > 0 ? whatAllAdmit(found) : ofAllBindings(asker.agent, agent)
}

/** With no open turn, the origin of the next call is unknown. All bindings count. */
function ofAllBindings(id: string, agent: AgentSettings | undefined): Admission {
  // The binding of a channel server itself neither admits nor refuses anything.
  const bindings = (agent?.bindings ?? []).filter((binding) => !isServerBinding(binding))
  if (bindings.length === 0) return { id, servers: null }
  return { id, servers: whatAllAdmit(bindings.map(admissionOfBinding)).servers }
}

function whatAllAdmit(all: readonly Admission[]): Admission {
  const limited = all.flatMap(({ servers }) => (servers === null ? [] : [servers]))
  const [first, ...more] = limited
  return {
    id: [...new Set(all.map(({ id }) => id))].join(','),
    servers: first?.filter((server) => more.every((others) => others.includes(server))) ?? null,
  }
}

/** The origin of the current turn, or of the session. Null: no place. */
async function placeOf(asker: Asker, { store }: AdmissionDeps): Promise<Address | null> {
  const turn = asker.turn === null ? null : await store.turn(asker.turn)
  if (turn?.agent === asker.agent)
    return turn.integration === SCHEDULE_PLACE
      ? null
      : address(turn.integration, turn.conversation, turn.thread ?? undefined)
  const session = asker.session === null ? null : await store.session(asker.session)
  if (session?.agent !== asker.agent) return null
  const at = parseAddress(session.address)
  return at.integration === SCHEDULE_PLACE ? null : at
}

function admissionAt(
  id: string,
  agent: AgentSettings | undefined,
  place: Address | null,
  { links }: AdmissionDeps,
): Admission {
  if (place === null) return { id, servers: null }
  const binding = bindingAt(agent, place, links)
  return binding ? admissionOfBinding(binding) : { id, servers: [] }
}

/** Messages from a channel server come through the binding that admits the server, whether or not the server runs. */
function bindingAt(
  agent: AgentSettings | undefined,
  place: Address,
  links: AdmissionDeps['links'],
): Binding | undefined {
  const through = links.get(place.integration)?.adapter.channel?.server
  return through === undefined
    ? boundAt({ agents: agent ? [agent] : [] }, place)?.binding
    : agent?.bindings.find((one) => one.allowedChannelServers.includes(through))
}

/**
 * All bindings that concern a place. For a channel server this includes the binding that names it. After a claim, a
 * place may belong to another agent.
 */
function bindingsOfPlace(
  agent: AgentSettings | undefined,
  place: Address,
  { settings, links }: AdmissionDeps,
): readonly Binding[] {
  const through = links.get(place.integration)?.adapter.channel?.server
  if (through !== undefined)
    return (agent?.bindings ?? []).filter(
      (one) =>
        one.allowedChannelServers.includes(through) || (isServerBinding(one) && one.instance === through),
    )
  const binding = bindingAt(agent, place, links) ?? boundAt(settings(), place)?.binding
  return binding === undefined ? [] : [binding]
}

/**
 * Returns the bindings behind a call. A turn has its own binding; a session or host has those of its open turns. If
 * one cannot be named, all bindings of the agent count. Empty: no message from a person led to the call.
 */
export async function bindingsBehind(
  asker: Asker,
  deps: AdmissionDeps & { readonly store: Pick<Store, 'turns'> },
): Promise<readonly Binding[]> {
  const agent = agentById(deps.settings(), asker.agent)
  const all = agent?.bindings ?? []
  const { host } = asker
  if (asker.session === null && asker.turn === null && host === undefined) return []
  const turns =
    asker.session === null && host !== undefined ? host.open : await turnsBehind(asker, deps.store)
  if (turns.length === 0) return all
  const found: Binding[] = []
  for (const turn of turns) {
    if (await isScheduled({ ...asker, turn }, deps)) continue
    const place = await placeOf({ ...asker, turn }, deps)
    const bindings = place === null ? [] : bindingsOfPlace(agent, place, deps)
    if (bindings.length === 0) return all
    found.push(...bindings)
  }
  return found
}

/** A claim may move a turn into a session of another place. Null: no turn is open, and the session's place counts. */
async function turnsBehind(
  { agent, session, turn }: Asker,
  store: Pick<Store, 'turns'>,
): Promise<readonly (string | null)[]> {
  if (turn !== null || session === null) return [turn]
  const open = await store.turns({ agent, session, states: ['handed', 'seen'], limit: MOST_HELD })
  return open.length === 0 ? [null] : open.map(({ id }) => id)
}

async function isScheduled({ agent, session, turn }: Asker, { store }: AdmissionDeps): Promise<boolean> {
  const row = turn === null ? null : await store.turn(turn)
  if (row?.agent === agent) return row.integration === SCHEDULE_PLACE
  const found = session === null ? null : await store.session(session)
  return found?.agent === agent && parseAddress(found.address).integration === SCHEDULE_PLACE
}

function admissionOfBinding({ plugin, instance, allowedChannelServers }: Binding): Admission {
  return { id: `${plugin}:${instance || 'default'}`, servers: allowedChannelServers }
}
