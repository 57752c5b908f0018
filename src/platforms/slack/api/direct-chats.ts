// A person's id as a target: their direct chat, opened once and remembered.
import { createBoundedMap, SwitchboardError } from '../../../contract/index.ts'
import type { SlackClient } from './client.ts'
import { isRefusal } from './refusals.ts'

export interface DirectChats {
  /** The channel behind a target. Throws `platform_rejected` for what is none. */
  channelOf(target: string): Promise<string>
  /** A post to this target landed there. */
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
        // Where it cannot be opened, posting to the person's id is the other way; the answer then says where that is.
        if (isRefusal(thrown, 'missing_scope', 'unknown_method')) return target
        throw thrown
      }
    },
  }
}
