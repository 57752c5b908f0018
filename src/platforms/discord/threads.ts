// Threads for answers. `each`: a message in a channel is answered in a thread that begins at it and has its id. `long`:
// the first part of a long answer is in the channel, and the rest in a thread below it. In a forum a message opens a
// post.
import {
  createBoundedMap,
  type PlatformDeps,
  type SendRequest,
  SwitchboardError,
} from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import { type ChannelFacts, FORUMS, isTalk, isThread } from './api/channel-cache.ts'
import type { DiscordAnswer, DiscordClient, Upload } from './api/client.ts'
import { explain, type RightsDeps } from './api/missing-rights.ts'
import { CREATE_THREADS, SEND_IN_THREADS, VIEW_CHANNEL } from './api/permissions.ts'
import { isRefusal, isStatus } from './api/refusals.ts'
import { isSnowflake } from './api/snowflakes.ts'
import type { DiscordConfig } from './config.ts'
import { clean, safeName } from './inbound-text.ts'
import type { DiscordMessage } from './parse.ts'

type Fields = Readonly<Record<string, unknown>>

export interface Threads {
  /** Returns the place of the request, and creates a missing thread. */
  placeOf(request: SendRequest, channel: ChannelFacts): Promise<ChannelFacts>
  /** A message was sent in a channel. Its next parts may go into a thread. */
  sent(request: SendRequest, channel: ChannelFacts, message: string): Promise<void>
  /** Opens a new post in a forum. */
  openPost(forum: ChannelFacts, message: Fields, files: readonly Upload[]): Promise<DiscordAnswer>
  /** Remembers a message's text for the name of its thread. */
  said(message: DiscordMessage): void
}

const REMEMBERED = 5_000
const ARCHIVE_MINUTES = 1_440
/** The first part of a long text is searched among this many of the latest messages. */
const ROWS_BETWEEN = 200

export function createThreads(
  config: Pick<DiscordConfig, 'options'>,
  client: DiscordClient,
  deps: RightsDeps & Pick<PlatformDeps, 'transcript'>,
): Threads {
  const { cache } = deps
  const names = createBoundedMap<string, string>(REMEMBERED)
  /** The first message of a long answer, by its turn. */
  const begun = createBoundedMap<string, string>(REMEMBERED)

  const startAt = async (channel: ChannelFacts, message: string): Promise<void> => {
    const body = {
      name: names.get(message) ?? wordsIn().platforms.discord.thread,
      auto_archive_duration: ARCHIVE_MINUTES,
    }
    try {
      const path = `/channels/${channel.id}/messages/${message}/threads`
      const made = await client.call('POST', path, { body, repeatable: true })
      cache.learn({ type: 11, parent_id: channel.id, ...made, id: message }, channel.guild ?? undefined)
    } catch (thrown) {
      // Another program was faster, or an earlier try arrived.
      if (!isRefusal(thrown, 160004))
        throw await explain(thrown, channel, [VIEW_CHANNEL, CREATE_THREADS, SEND_IN_THREADS], deps)
      cache.learn({ id: message, type: 11, parent_id: channel.id }, channel.guild ?? undefined)
    }
  }

  const find = async (id: string): Promise<ChannelFacts | null> => {
    try {
      return await cache.channel(id)
    } catch (thrown) {
      if (isRefusal(thrown, 10003) || isStatus(thrown, 404)) return null
      throw thrown
    }
  }

  const threadAt = async (channel: ChannelFacts, thread: string): Promise<ChannelFacts> => {
    const known = await find(thread)
    if (known !== null) return known
    if (isTalk(channel)) {
      await startAt(channel, thread)
      return cache.channel(thread)
    }
    throw new SwitchboardError('platform_rejected', '10003: the thread does not exist any more')
  }

  /** The first part of a long text opened the forum post, which has its id. The parts are sent one after the other. */
  const postOf = async ({ to, seq }: SendRequest, part: number): Promise<string | undefined> => {
    const query = {
      conversation: to.conversation,
      direction: 'out',
      beforeSeq: seq,
      limit: ROWS_BETWEEN,
    } as const
    const rows = (await deps.transcript(query)).filter(({ thread }) => thread === undefined)
    const first = rows.at(-part)?.platformMessageId
    return isSnowflake(first) ? first : undefined
  }

  const keyOf = ({ turn }: SendRequest, channel: ChannelFacts) => `${channel.id} ${turn ?? ''}`

  return {
    async placeOf(request, channel) {
      const { thread } = request.to
      if (thread !== undefined) {
        if (!isSnowflake(thread))
          throw new SwitchboardError(
            'platform_rejected',
            `"${thread.slice(0, 60)}" is not a thread of Discord`,
          )
        return threadAt(channel, thread)
      }
      const { part = 0 } = request
      if (part === 0) return channel
      const first = FORUMS.has(channel.type)
        ? await postOf(request, part)
        : begun.get(keyOf(request, channel))
      return first === undefined ? channel : threadAt(channel, first)
    },

    async sent(request, channel, message) {
      const isLong = config.options.threads === 'long' && request.part === 0 && request.turn !== undefined
      if (!isLong || channel.guild === null || isThread(channel) || !isSnowflake(message)) return
      // The message was posted. A missing thread does not change that.
      await startAt(channel, message).then(
        () => begun.set(keyOf(request, channel), message),
        () => undefined,
      )
    },

    async openPost(forum, message, files) {
      const { content } = message as { readonly content?: unknown }
      const name = nameOf(typeof content === 'string' ? content : '') ?? wordsIn().platforms.message
      const made = await client.call('POST', `/channels/${forum.id}/threads`, {
        body: { name, auto_archive_duration: ARCHIVE_MINUTES, message },
        files,
      })
      cache.learn({ type: 11, parent_id: forum.id, ...made }, forum.guild ?? undefined)
      const { id } = (made.message ?? made) as Fields
      return { id }
    },

    said({ id, content }) {
      if (config.options.threads !== 'each' || !isSnowflake(id) || typeof content !== 'string') return
      const name = nameOf(content)
      if (name !== undefined) names.set(id, name)
    },
  }
}

function nameOf(text: string): string | undefined {
  const words = text
    .slice(0, 1_000)
    .replace(/<[@#&!:\w]*(?<=\d)>/g, '')
    .replace(/\\(?=\W)/g, '')
  return safeName(clean(words))
}
