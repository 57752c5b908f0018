// The platform `slack`: Socket Mode or the Events API in, the Web API out, and history for missed messages.
import {
  type Abilities,
  defined,
  type PlatformAdapter,
  type PlatformDeps,
  type Received,
  SwitchboardError,
} from '../../contract/index.ts'
import { createChatPace, type GuardedFetch, type Link, type LinkState, refusalWord } from '../../kit/index.ts'
import { mrkdwn } from '../../kit/markdown/index.ts'
import { createSlackClient } from './api/client.ts'
import { createDirectChats } from './api/direct-chats.ts'
import { createNames } from './api/names.ts'
import { scopeGates } from './api/scopes.ts'
import { createSelf } from './api/self.ts'
import { createUploads } from './api/uploads.ts'
import { DEFAULT_TIMINGS, readConfig, type Timings } from './config.ts'
import { createSlackFiles } from './files.ts'
import { createHistory } from './history.ts'
import { handleRequest } from './link/events-endpoint.ts'
import { startEventsLink } from './link/events-link.ts'
import type { Envelope } from './link/socket.ts'
import { startSocketLink } from './link/socket-link.ts'
import { createReceiver, type Receiver } from './receive.ts'
import { createReconcile } from './reconcile.ts'
import { TEXT_LIMIT } from './render.ts'
import { createSend } from './send.ts'
import { createThreadStatus } from './status.ts'
import { createSurface } from './surface.ts'
import { verifyRequest } from './verify.ts'

const ABILITIES: Abilities = {
  textLimit: TEXT_LIMIT,
  markdown: mrkdwn,
  threads: true,
  edits: true,
  reactions: true,
  files: true,
  buttons: true,
  replies: true,
  typing: true,
  deletes: true,
  textAsFile: true,
  // Slack has no idempotency key, but a post can be read back.
  idempotentSend: false,
}
/** Slack allows about fifty changes of a message per minute. */
const REVISE_MS = 1_500

export interface SlackAdapterOptions {
  readonly timings?: Partial<Timings>
  readonly fetch?: GuardedFetch
}

/** Throws `config_invalid` for invalid options. Timings and fetch are for tests. */
export function createSlack(deps: PlatformDeps, options: SlackAdapterOptions = {}): PlatformAdapter {
  const { clock, log } = deps
  const config = readConfig(deps)
  const timings = { ...DEFAULT_TIMINGS, ...options.timings }
  const client = createSlackClient(config, timings, deps, options.fetch)
  const self = createSelf(client)
  const names = createNames(client, { clock, waitMs: timings.namesMs })
  const surface = createSurface(client, config.options)
  const chats = createDirectChats(client)
  const files = createSlackFiles(client, config, deps)
  const status = createThreadStatus(client, { clock, everyMs: timings.statusMs })
  const uploads = createUploads({ client, chats, files })
  const { send, revise } = createSend({ client, chats, uploads })
  let link: LinkState = { state: 'connecting' }
  let socket: Link | null = null
  let events: Pick<Link, 'renew' | 'stop'> | null = null
  let receiver: Receiver | null = null
  const tell = (next: LinkState) => {
    link = next
  }

  /** Shows a short text where the button was tapped, for that person only. Lossy: the decision itself is committed. */
  const answerTap = (
    { conversation, thread, sender }: { conversation: string; thread?: string; sender: { id: string } },
    result: Received,
  ) => {
    const text = result.state === 'refused' ? refusalWord(result) : (result.answer ?? '')
    if (text === '') return
    const place = {
      channel: conversation,
      user: sender.id,
      ...defined({ thread_ts: thread }),
    }
    client.call('chat.postEphemeral', { ...place, text }, { repeatable: true }).catch(() => undefined)
  }

  const take = async ({ type, payload }: Envelope): Promise<object | undefined> => {
    if (receiver === null) throw new SwitchboardError('store_unavailable', 'the integration is not started')
    if (type === 'events_api') await receiver.event(payload)
    else if (type === 'interactive') await receiver.interaction(payload)
    else if (type === 'slash_commands') {
      const text = await receiver.command(payload)
      return text === undefined ? undefined : { response_type: 'ephemeral', text }
    }
    return undefined
  }

  return {
    abilities: ABILITIES,
    pace: createChatPace({
      clock,
      intervalMs: timings.chatIntervalMs,
      burst: 5,
      overall: { count: 50, perMs: 1_000 },
    }),
    streaming: { by: 'edits', everyMs: REVISE_MS, revise },
    ...(config.signingSecret === null
      ? {}
      : {
          endpoint: {
            verify: (request) =>
              verifyRequest({ signingSecret: config.signingSecret, now: clock.now() }, request),
            async handle(verified) {
              if (receiver === null)
                throw new SwitchboardError('store_unavailable', 'the integration is not started')
              return handleRequest(verified, receiver, { clock, answerMs: timings.answerMs })
            },
          },
        }),
    async start(intake) {
      const connected = () => intake.connected?.()
      const expelled = (why: string) => {
        self.forget()
        tell({ state: 'down', detail: `${why}: the app was taken out of the workspace, or its tokens back` })
        log.warn({ why }, 'the app may no longer be used')
        // The event may be about another token, so Slack itself is asked.
        events?.renew(why)
        socket?.renew(why)
      }
      receiver = createReceiver({ config, self, names, surface, intake, clock, log, expelled, answerTap })
      if (config.appToken === null)
        events = startEventsLink(timings, { client, self, clock, random: deps.random, log, tell, connected })
      else
        socket = startSocketLink(config, timings, {
          client,
          self,
          clock,
          random: deps.random,
          log,
          lease: deps.lease,
          tell,
          connected,
          take,
        })
    },
    send,
    reconcile: createReconcile({ client, chats, uploads, self }),
    history: createHistory({
      client,
      self,
      names,
      context: (me) => ({
        self: me,
        replyToMode: config.replyToMode,
        nameOf: (user) => names.of(user),
        now: clock.now(),
      }),
    }),
    link: {
      state: () => link,
      who: () => {
        const me = self.known()
        return me === null ? null : `@${me.name} in ${me.team}`
      },
      renew: (cause) => socket?.renew(cause),
      probe: async () => (socket === null ? 'hears' : socket.probe()),
    },
    files: {
      keep: (file) => files.keep(file),
      download: (attachment) => files.download(attachment),
      forget: ({ attachments }) => files.forget(attachments),
    },
    signal(to, signal) {
      if (signal.kind === 'typing') status.working(to, signal.on)
      else if (signal.kind === 'status') status.say(to, signal.text)
    },
    checks: { gates: () => scopeGates(self.known()?.scopes ?? null, config.options) },
    async stop() {
      status.stop()
      await events?.stop()
      events = null
      await socket?.stop()
      socket = null
      receiver = null
    },
  }
}
