// The platform `discord`: the gateway in, REST out, and history for missed messages.
import {
  type Abilities,
  type Address,
  type PlatformAdapter,
  type PlatformDeps,
  SwitchboardError,
} from '../../contract/index.ts'
import { createChatPace, type GuardedFetch, type LinkState } from '../../kit/index.ts'
import { createChannelCache, type Place } from './api/channel-cache.ts'
import { createDiscordClient, type DiscordAnswer } from './api/client.ts'
import { createSelf } from './api/self.ts'
import { commandsOf, registerCommands } from './commands.ts'
import { DEFAULT_TIMINGS, readConfig, type Timings } from './config.ts'
import { createDiscordFiles } from './files.ts'
import { createHistory } from './history.ts'
import { type Gateway, startGateway } from './link/gateway.ts'
import { intentGates, permissionGates } from './link/intents.ts'
import { createInteractionEndpoint } from './link/interaction-endpoint.ts'
import { readSessions, writeSessions } from './link/sessions.ts'
import { discordMarkdown } from './markdown.ts'
import type { DiscordMessage, ParseContext } from './parse.ts'
import { createReceiver, type Receiver } from './receive.ts'
import { createReconcile } from './reconcile.ts'
import { TEXT_LIMIT } from './render.ts'
import { createSend } from './send.ts'
import { createTargets } from './targets.ts'
import { createThreads } from './threads.ts'
import { createTyping } from './typing.ts'

const ABILITIES: Abilities = {
  textLimit: TEXT_LIMIT,
  markdown: discordMarkdown,
  threads: true,
  edits: true,
  reactions: true,
  files: true,
  buttons: true,
  replies: true,
  typing: true,
  deletes: true,
  textAsFile: true,
  // The nonce is valid for minutes only, but a post can be read back.
  idempotentSend: false,
}
/** Discord allows about one change per second in a channel. */
const REVISE_MS = 1_500
const GUILDS_ASKED = 200

export interface DiscordAdapterOptions {
  readonly timings?: Partial<Timings>
  readonly fetch?: GuardedFetch
}

/** Throws `config_invalid` for invalid options. Timings and fetch are for tests. */
export function createDiscord(deps: PlatformDeps, options: DiscordAdapterOptions = {}): PlatformAdapter {
  const { clock, log, random } = deps
  const config = readConfig(deps)
  const timings = { ...DEFAULT_TIMINGS, ...options.timings }
  const client = createDiscordClient(config, timings, deps, options.fetch)
  const self = createSelf(client)
  const cache = createChannelCache(client, { clock, self })
  const targets = createTargets(client, cache)
  const threads = createThreads(config, client, { cache, self, transcript: deps.transcript })
  const files = createDiscordFiles(client, config, deps)
  const door = createInteractionEndpoint({ client, self, log })
  const { send, revise } = createSend({
    ...{ client, targets, threads, cache, self, files },
    replyToMode: config.replyToMode,
  })
  const { reconcile, echoed } = createReconcile({
    ...{ client, targets, threads, self, clock },
    transcript: deps.transcript,
  })
  const typing = createTyping(
    async ({ conversation, thread }: Address) =>
      client.call('POST', `/channels/${thread ?? (await targets.channelOf(conversation)).id}/typing`, {
        repeatable: true,
      }),
    { clock, everyMs: timings.typingMs },
  )
  let link: LinkState = { state: 'connecting' }
  let gateway: Gateway | null = null
  let receiver: Receiver | null = null
  let wasBlank = false
  let guilds: readonly DiscordAnswer[] | null = null
  let isRegistered = false

  const contextOf = async (place: Place, message: DiscordMessage): Promise<ParseContext> => {
    const guild =
      place.chat === 'direct' ? null : (cache.known(place.thread ?? place.conversation)?.guild ?? null)
    const hasRoles = Array.isArray(message.mention_roles) && message.mention_roles.length > 0
    // Roles are needed only if a role is mentioned. If they are unknown, none counts as the bot's.
    const facts = guild === null || !hasRoles ? null : await cache.guild(guild).catch(() => null)
    return {
      self: await self(),
      place,
      now: clock.now(),
      myRoles: facts?.myRoles ?? new Set(),
      roleName: (id) => facts?.roleNames.get(id),
      channelName: (id) => cache.known(id)?.name ?? undefined,
      opensThreads: config.options.threads === 'each',
    }
  }

  const blank = () => {
    if (wasBlank || !config.options.message_content) return
    wasBlank = true
    log.warn(
      {},
      'messages come without their content: switch on the Message Content intent at discord.com/developers/applications, Bot',
    )
  }

  /** Runs beside the link and delays nothing. Failures are repeated at the next connect. */
  const lookAround = async () => {
    const me = await self()
    guilds = await client.list(`/users/@me/guilds?limit=${GUILDS_ASKED}`)
    if (isRegistered || !config.options.commands) return
    isRegistered = true
    await registerCommands(client, me.appId, commandsOf(config.options)).catch((thrown: unknown) => {
      isRegistered = false
      throw thrown
    })
  }

  return {
    abilities: ABILITIES,
    pace: createChatPace({
      clock,
      intervalMs: timings.chatIntervalMs,
      burst: 5,
      overall: { count: 45, perMs: 1_000 },
    }),
    streaming: { by: 'edits', everyMs: REVISE_MS, revise },
    async start(intake, cursor) {
      const taken = createReceiver({
        ...{ config, self, cache, door, intake, clock, log, echoed, blank },
        context: contextOf,
        fetchMessage: (channel, id) =>
          client.call('GET', `/channels/${channel}/messages/${id}`, { repeatable: true }),
        cursor: (reached) => writeSessions(gateway?.sessions() ?? [], reached),
        again: (session, cause) => gateway?.again(session, cause),
        said: (message) => threads.said(message),
        spoke: (person, channel) => targets.learn(person, channel),
      })
      receiver = taken
      gateway = startGateway(config, timings, {
        ...{ client, clock, random, log },
        lease: deps.lease,
        sessions: readSessions(cursor),
        tell(next) {
          link = next
        },
        connected() {
          intake.connected?.()
          lookAround().catch((thrown: unknown) =>
            log.info({ problem: thrown instanceof Error ? thrown.message : '' }, 'Discord was not looked at'),
          )
        },
        dispatch: (dispatch) => taken.take(dispatch),
      })
    },
    send,
    reconcile,
    history: createHistory({
      ...{ client, cache, targets, self, clock },
      context: contextOf,
      allowed() {
        const { access } = deps.current?.() ?? deps.integration
        return access.readable ? access.allowFrom : []
      },
    }),
    link: {
      state: () => link,
      who: () => {
        const me = self.known()
        return me === null ? null : `@${me.name}`
      },
      renew: (cause) => gateway?.renew(cause),
      async probe() {
        if (gateway === null) throw new SwitchboardError('platform_unavailable', 'there is no connection')
        return gateway.probe()
      },
    },
    files: {
      keep: (file) => files.keep(file),
      download: (attachment) => files.download(attachment),
      forget: ({ attachments }) => files.forget(attachments),
    },
    signal(to, signal) {
      if (signal.kind === 'typing') typing.set(to, signal.on)
    },
    checks: {
      gates: () => [
        ...intentGates(self.known(), config.options, wasBlank),
        ...permissionGates(self.known(), guilds),
      ],
    },
    async stop() {
      typing.stop()
      const leaving = gateway
      // Events before the end are stored, so that the next start continues after them.
      await leaving?.stop()
      receiver?.stop()
      await receiver?.idle()
      gateway = null
      receiver = null
    },
  }
}
