// Resolves a person's id to their direct chat, which is opened once and remembered.
import { createBoundedMap, SwitchboardError } from '../../../contract/index.ts'
import type { SlackClient } from './client.ts'
import { isRefusal } from './refusals.ts'

export interface DirectChats {
  /** Returns the channel of a target. Throws `platform_rejected` for an invalid target. */
  channelOf(target: string): Promise<string>
  /** Remembers the channel in which a post to this target appeared. */
  learn(target: string, channel: string): void
}

const REMEMBERED = 10_000

export function createDirectChats(client: SlackClient): DirectChats {
  const known = createBoundedMap<string, string>(REMEMBERED)
  return {
    learn(target, channel) {
      if (target !== channel && /^[UW]/.test(target)) known.set(target, channel)
    },
    async channelOf(target) {
      if (/^[CDG][A-Z0-9_-]{1,60}$/.test(target)) return target
      if (!/^[UW][A-Z0-9_-]{1,60}$/.test(target)) {
        throw new SwitchboardError(
          'platform_rejected',
          `channel_not_found: "${target.slice(0, 60)}" is not the id of a channel or person`,
          {
            hint: 'give the id of a channel (C…), a person (U…) or a direct chat (D…), not a name',
          },
        )
      }
      const before = known.get(target)
      if (before !== undefined) return before
      try {
        const { answer } = await client.call('conversations.open', { users: target }, { repeatable: true })
        const id = (answer.channel as { readonly id?: unknown } | undefined)?.id
        if (typeof id !== 'string')
          throw new SwitchboardError('platform_unavailable', 'Slack: conversations.open names no chat')
        known.set(target, id)
        return id
      } catch (thrown) {
        // If it cannot be opened, the message is posted to the person's id. The answer then names the channel.
        if (isRefusal(thrown, 'missing_scope', 'unknown_method')) return target
        throw thrown
      }
    },
  }
}
