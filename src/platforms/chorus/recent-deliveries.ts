// The deliveries whose callbacks may still be needed: in memory, and encrypted in the store for the next run. A
// delivery needs an `idle` until `done` is stored. The newest one of a channel stays, so that the agent can send first.
import { type Clock, type IntegrationCredentials, inSlices, SwitchboardError } from '../../contract/index.ts'
import { type ChorusDelivery, mcpServers } from '../../kit/index.ts'
import { clean, deliveryName } from './parse.ts'

/** Callbacks of Switchboard live this long. Other services' may end earlier, and they say so. */
export const CALLBACK_LIFE_MS = 24 * 3_600_000

export interface KeptDelivery {
  readonly name: string
  readonly conversation: string
  readonly messageId: string
  /** The newest callback, for everything that is still to be sent. */
  callback: string
  at: number
  /** How often it came in this run. */
  times: number
  /** Its turn is over, and the service knows. */
  done: boolean
  /** `processing` was sent. */
  begun: boolean
  /** How its turn ended; null: it is open, as far as is known. */
  ended: string | null
  /** The outbox row of a message for it that must be tried again. */
  owing: string | null
  /** The service reported that the callback no longer exists. */
  gone: boolean
}

export interface Keeping {
  readonly kept: KeptDelivery
  /** It was not known here before. */
  readonly fresh: boolean
  /** Undoes the keeping, because the delivery was refused. */
  takeBack(): Promise<void>
}

export interface RecentDeliveries {
  /** Reads the deliveries of earlier runs, in slices. */
  load(): Promise<readonly KeptDelivery[]>
  /** Resolves when it is durable. A repeat is the same delivery with a newer callback. */
  keep(delivery: ChorusDelivery, at: number): Promise<Keeping>
  /** Returns the reference to the tool servers of a delivery, for the agent's connector; null: it brought none. */
  mcpReference(delivery: ChorusDelivery): string | null
  find(conversation: string, messageId: string): Promise<KeptDelivery | null>
  /** Includes deliveries that other nodes took. */
  newest(conversation: string): Promise<KeptDelivery | null>
  /** Returns the oldest delivery of a channel whose turn is open. */
  working(conversation: string): KeptDelivery | null
  /** The turn is over. Removes its tool servers, and its callback unless it is the channel's newest. */
  close(kept: KeptDelivery): Promise<void>
  forget(kept: KeptDelivery): Promise<void>
  /** Removes deliveries that are older than callbacks live. */
  prune(before: number): Promise<void>
}

export function createRecentDeliveries(
  shelf: IntegrationCredentials | undefined,
  clock: Clock,
): RecentDeliveries {
  const byName = new Map<string, KeptDelivery>()
  const channels = new Map<string, Set<KeptDelivery>>()

  const credentials = (): IntegrationCredentials => {
    if (shelf) return shelf
    throw new SwitchboardError('config_invalid', 'a chorus integration needs a place for callback URLs')
  }

  const add = (kept: KeptDelivery) => {
    byName.set(kept.name, kept)
    const channel = channels.get(kept.conversation) ?? new Set()
    channels.set(kept.conversation, channel.add(kept))
    return kept
  }

  const drop = (kept: KeptDelivery | undefined) => {
    if (!kept || byName.get(kept.name) !== kept) return
    byName.delete(kept.name)
    const channel = channels.get(kept.conversation)
    channel?.delete(kept)
    if (channel?.size === 0) channels.delete(kept.conversation)
  }

  const write = (kept: KeptDelivery) => {
    const { callback, conversation, messageId, at, done } = kept
    return credentials().put(kept.name, JSON.stringify({ callback, conversation, messageId, at, done }))
  }

  const readStored = async (name: string): Promise<KeptDelivery | null> => {
    const text = await credentials().get(name)
    if (text === null) return null
    const stored = JSON.parse(text) as Pick<
      KeptDelivery,
      'callback' | 'conversation' | 'messageId' | 'at' | 'done'
    >
    return { name, times: 0, begun: false, ended: null, owing: null, gone: false, ...stored }
  }

  const read = async (name: string): Promise<KeptDelivery | null> => {
    const stored = await readStored(name)
    return byName.get(name) ?? (stored && add(stored))
  }

  const writeTools = async (name: string, servers: string | null) =>
    servers === null ? credentials().remove([name + MCP]) : credentials().put(name + MCP, servers)

  const storedNames = async () => (await credentials().names()).filter((name) => !name.endsWith(MCP))
  const inChannel = (conversation: string) => [...(channels.get(conversation) ?? [])]
  const newestHere = (conversation: string) => newestOf(inChannel(conversation))

  const recent: RecentDeliveries = {
    async load() {
      await inSlices(await storedNames(), clock, read)
      return [...byName.values()]
    },
    async keep(delivery, at) {
      const conversation = clean(delivery.channel.id)
      const messageId = clean(delivery.message.id)
      const name = deliveryName(conversation, messageId)
      const { callback } = delivery
      const known = byName.get(name)
      const before = known && { callback: known.callback, at: known.at, times: known.times }
      const flags = { times: 0, done: false, begun: false, ended: null, owing: null, gone: false }
      const kept = known ?? add({ name, conversation, messageId, callback, at, ...flags })
      const times = kept.times + 1
      Object.assign(kept, { callback, at, times, gone: false })
      const servers = mcpServers(delivery.mcp)
      const brings = servers.length > 0
      const toolsBefore = brings && known ? await credentials().get(name + MCP) : null
      await Promise.all([write(kept), brings ? writeTools(name, JSON.stringify(servers)) : null])
      const takeBack = async () => {
        if (kept.times !== times) return // It came once more meanwhile, and that one decides.
        if (!before) return recent.forget(kept)
        Object.assign(kept, before)
        await Promise.all([write(kept), brings ? writeTools(name, toolsBefore) : null])
      }
      return { kept, fresh: known === undefined, takeBack }
    },
    mcpReference(delivery) {
      if (mcpServers(delivery.mcp).length === 0) return null
      const name = deliveryName(clean(delivery.channel.id), clean(delivery.message.id))
      return credentials().reference(name + MCP)
    },
    async find(conversation, messageId) {
      const name = deliveryName(conversation, messageId)
      return byName.get(name) ?? read(name)
    },
    async newest(conversation) {
      const here = newestHere(conversation)
      if (here) return here
      // Not added to the map, because another node ends it and would not report that here.
      let newest: KeptDelivery | null = null
      await inSlices(await storedNames(), clock, async (name) => {
        const one = await readStored(name)
        if (one?.conversation === conversation) newest = newestOf([newest, one])
      })
      return newest
    },
    working: (conversation) => inChannel(conversation).find((one) => !one.done && one.ended === null) ?? null,
    async close(kept) {
      kept.done = true
      if (newestHere(kept.conversation) !== kept) return recent.forget(kept)
      await Promise.all([write(kept), credentials().remove([kept.name + MCP])])
      const older = inChannel(kept.conversation).filter((one) => one !== kept && one.done)
      await Promise.all(older.map((one) => recent.forget(one)))
    },
    async forget(kept) {
      drop(kept)
      await credentials().remove([kept.name, kept.name + MCP])
    },
    async prune(before) {
      const old = [...byName.values()].filter((kept) => kept.at < before)
      await inSlices(old, clock, (kept) => recent.forget(kept))
    },
  }
  return recent
}

const MCP = '.mcp'

function newestOf(list: readonly (KeptDelivery | null)[]): KeptDelivery | null {
  return list.reduce((best, one) => (best === null || (one !== null && one.at >= best.at) ? one : best), null)
}
