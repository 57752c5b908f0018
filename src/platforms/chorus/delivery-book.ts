// The deliveries whose callbacks may still be needed: in memory for the moment, encrypted on the shelf for the next life.
// A delivery is owed an `idle` until `done` is written; the newest of a channel stays, so that an agent can speak first.
import { type CredentialShelf, SwitchboardError } from '../../contract/index.ts'
import { type ChorusDelivery, mcpServers } from '../../kit/index.ts'
import { clean, deliveryName } from './parse.ts'

export interface KeptDelivery {
  readonly name: string
  readonly callback: string
  readonly conversation: string
  readonly messageId: string
  readonly at: number
  /** Its turn is over, and that was told. */
  done: boolean
  /** `processing` was told. */
  begun: boolean
  /** How its turn ended; null: it is still open, as far as is known. */
  ended: string | null
  /** A message for it was tried and has to be tried again. */
  owing: boolean
}

export interface DeliveryBook {
  /** Reads what an earlier life kept. */
  load(): Promise<readonly KeptDelivery[]>
  /** Resolves when it is durable. */
  keep(delivery: ChorusDelivery, at: number): Promise<KeptDelivery>
  /** Where the agent's connector finds the tool servers of a delivery; null: it brought none. */
  mcpReference(delivery: ChorusDelivery): string | null
  find(conversation: string, messageId: string): Promise<KeptDelivery | null>
  newest(conversation: string): KeptDelivery | null
  /** The oldest delivery of a channel whose turn is open. */
  working(conversation: string): KeptDelivery | null
  /** The turn is over: tool servers are forgotten, and the callback too unless it is the channel's newest. */
  close(kept: KeptDelivery): Promise<void>
  forget(kept: KeptDelivery): Promise<void>
  /** Forgets what is older than callbacks live. */
  prune(before: number): Promise<void>
}

export function createDeliveryBook(shelf: CredentialShelf | undefined): DeliveryBook {
  const byName = new Map<string, KeptDelivery>()
  const channels = new Map<string, Set<KeptDelivery>>()

  const credentials = (): CredentialShelf => {
    if (shelf) return shelf
    throw new SwitchboardError('config_invalid', 'a chorus integration needs a place for callback URLs')
  }

  const add = (kept: KeptDelivery) => {
    drop(byName.get(kept.name))
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

  const read = async (name: string): Promise<KeptDelivery | null> => {
    const text = await credentials().get(name)
    if (text === null) return null
    const stored = JSON.parse(text) as Omit<KeptDelivery, 'name' | 'begun' | 'ended' | 'owing'>
    return add({ name, begun: false, ended: null, owing: false, ...stored })
  }

  const inChannel = (conversation: string) => [...(channels.get(conversation) ?? [])]
  const book: DeliveryBook = {
    async load() {
      for (const name of await credentials().names()) if (!name.endsWith(MCP)) await read(name)
      return [...byName.values()]
    },
    async keep(delivery, at) {
      const conversation = clean(delivery.channel.id)
      const messageId = clean(delivery.message.id)
      const name = deliveryName(conversation, messageId)
      const known = byName.get(name)
      const fresh = { name, callback: delivery.callback, conversation, messageId, at, done: false }
      const kept = add({ begun: known?.begun ?? false, ended: known?.ended ?? null, owing: false, ...fresh })
      const servers = mcpServers(delivery.mcp)
      const tools = servers.length === 0 ? null : credentials().put(name + MCP, JSON.stringify(servers))
      await Promise.all([write(kept), tools])
      return kept
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
    newest: (conversation) =>
      inChannel(conversation).reduce<KeptDelivery | null>(
        (best, one) => (best === null || one.at >= best.at ? one : best),
        null,
      ),
    working: (conversation) => inChannel(conversation).find((one) => !one.done && one.ended === null) ?? null,
    async close(kept) {
      kept.done = true
      if (book.newest(kept.conversation) !== kept) return book.forget(kept)
      await Promise.all([write(kept), credentials().remove([kept.name + MCP])])
      const older = inChannel(kept.conversation).filter((one) => one !== kept && one.done)
      await Promise.all(older.map((one) => book.forget(one)))
    },
    async forget(kept) {
      drop(kept)
      await credentials().remove([kept.name, kept.name + MCP])
    },
    async prune(before) {
      const old = [...byName.values()].filter((kept) => kept.at < before)
      for (const kept of old) await book.forget(kept)
    },
  }
  return book
}

const MCP = '.mcp'
