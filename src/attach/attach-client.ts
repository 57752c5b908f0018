// The shim's end of the frames. It stays attached when daemons end and start. Calls without an answer are sent again by
// their key. The next hello names the turns that the host holds, so that nothing is handed over twice.
import {
  type Cancel,
  type Clock,
  defined,
  type HostAsk,
  type HostVerdict,
  type Logger,
  type ToolOutcome,
} from '../contract/index.ts'
import { type CallUnderWay, createCallsUnderWay, failedCall } from './calls-under-way.ts'
import type { FrameLink, OpenLink } from './frame-link.ts'
import {
  boundedName,
  type DaemonFrame,
  encodeFrame,
  isTooLong,
  parseDaemonFrame,
  type ShimFrame,
  type WelcomeFacts,
} from './frames.ts'
import { createHelloMemory, type ShimIdentity } from './hello-memory.ts'

export type DeliverFrame = Extract<DaemonFrame, { t: 'deliver' }>

export interface AttachClientConfig extends ShimIdentity {
  /** Opens the connection: the daemon's socket, or a WebSocket to another machine. */
  readonly open: OpenLink
}

export interface AttachClientDeps {
  readonly clock: Clock
  readonly log: Logger
  /** Writes to the host's pipe. Resolves when it was written. */
  deliver(event: DeliverFrame): Promise<void>
  verdict(verdict: HostVerdict): Promise<void>
  /** Starts a daemon, because none answers. It is called repeatedly and must start only one. */
  revive(): void
}

export type Welcome = WelcomeFacts

export interface AttachClient {
  start(): void
  /** Returns the daemon's first welcome; null if none came in time. `problem` then has the reason. */
  welcome(withinMs: number): Promise<Welcome | null>
  /** Returns why it is not attached now; null when it is. */
  problem(): string | null
  /** Returns why the daemon refused this host; null: it did not. */
  refusal(): string | null
  /** The host is initialised, so events may come. Calling it again does no harm. */
  ready(client: string | null): void
  /**
   * Null: no daemon was reached in time, and nothing was done. A call that a daemon may have run is `outcome_unknown`.
   */
  call(tool: string, input: unknown, key: string): Promise<ToolOutcome | null>
  ask(ask: HostAsk): void
  stop(): void
}

const RETRY_FIRST_MS = 50
const RETRY_MOST_MS = 2_000
/** A refused credential is tried again after this time. */
const RETRY_REFUSED_MS = 15_000
/** The daemon sends a ping every 15 s. A silent one is frozen, or its connection is dead. */
const SILENCE_MS = 45_000

export function createAttachClient(config: AttachClientConfig, deps: AttachClientDeps): AttachClient {
  const { clock, log } = deps
  const memory = createHelloMemory(config)
  const welcomed: ((welcome: Welcome | null) => void)[] = []
  let socket: FrameLink | null = null
  let attached: Welcome | null = null
  let host: { readonly client: string | null } | null = null
  let refusal: string | null = null
  let leftOnPurpose = false
  let problem: string | null = 'not attached yet'
  let retryMs = RETRY_FIRST_MS
  let number = 0
  let stopped = false
  let retry: Cancel = () => undefined
  let silence: Cancel = () => undefined
  // Open timers must not keep a process that was told to end.
  const timers = new Set<Cancel>()
  const after = (ms: number, act: () => void): Cancel => {
    const cancel = clock.after(ms, () => {
      timers.delete(cancel)
      act()
    })
    timers.add(cancel)
    return () => {
      timers.delete(cancel)
      cancel()
    }
  }

  const send = (frame: ShimFrame) => {
    socket?.send(encodeFrame(frame))
  }

  const calls = createCallsUnderWay({ send, after })

  const connect = () => {
    if (stopped) return
    const opened: FrameLink = config.open({
      opened: () => send(memory.hello()),
      line(text) {
        listenOn(opened)
        try {
          take(parseDaemonFrame(text))
        } catch (thrown) {
          log.error({ error: String(thrown) }, 'the daemon sent something that is no frame')
          opened.destroy()
        }
      },
      failed(why) {
        if (why.kind === 'refused') return refusedBy(why.problem, RETRY_REFUSED_MS)
        problem = why.problem
        if (why.kind === 'absent' && !stopped && !leftOnPurpose) deps.revive()
      },
      closed() {
        if (socket === opened) lost()
      },
    })
    socket = opened
    listenOn(opened)
  }

  /** A connection that died without a close is found by its silence. */
  const listenOn = (link: FrameLink) => {
    silence()
    silence = clock.after(SILENCE_MS, () => {
      problem = 'the daemon was silent for 45 s'
      link.destroy()
    })
  }

  const refusedBy = (reason: string, againMs: number) => {
    problem = reason
    refusal = reason
    log.error({ reason }, 'the daemon refused this host')
    retryMs = againMs
    for (const tell of welcomed.splice(0)) tell(null)
  }

  const lost = () => {
    socket = null
    silence()
    if (attached && refusal === null) problem = 'the daemon went away'
    if (attached && !stopped) for (const one of calls.all()) one.waitForDaemon()
    attached = null
    if (stopped) return
    retry = clock.after(retryMs, connect)
    retryMs = Math.min(retryMs * 2, Math.max(retryMs, RETRY_MOST_MS))
  }

  const greeted = (welcome: Welcome) => {
    attached = welcome
    problem = null
    leftOnPurpose = false
    retryMs = RETRY_FIRST_MS
    refusal = null
    if (host) enter(host.client)
    for (const tell of welcomed.splice(0)) tell(welcome)
  }

  const enter = (client: string | null) => {
    send({ t: 'ready', client })
    for (const one of calls.all()) one.send()
    for (const unsent of memory.unsentAsks()) send(unsent)
  }

  const take = (frame: DaemonFrame) => {
    switch (frame.t) {
      case 'welcome':
        return greeted({
          permission: frame.permission ?? false,
          channels: frame.channels ?? false,
          services: frame.services ?? false,
          oneWay: frame.oneWay ?? false,
        })
      case 'refused':
        return refusedBy(frame.reason, RETRY_MOST_MS)
      case 'bye':
        // An operator stopped the daemon. Only the operator starts it again.
        leftOnPurpose = true
        log.info({ reason: frame.reason }, 'the daemon ended the attachment')
        return
      case 'deliver':
        return deliver(frame)
      case 'verdict': {
        const { n, requestId, behavior } = frame
        // The next hello still names it, because the daemon may not have received this frame. Naming it twice does no
        // harm.
        return confirm(n, deps.verdict({ requestId, behavior }))
      }
      case 'evidence':
        return calls.evidence(frame.id, frame.turn)
      case 'result': {
        const { id, text, isError, structured, note } = frame
        memory.answered(frame)
        return calls.answered(id, { text, isError, structured, ...defined({ note }) })
      }
      case 'asked':
        return memory.asked(frame.id)
      case 'ping':
        return send({ t: 'pong' })
      case 'pong':
        return
    }
  }

  const deliver = (frame: DeliverFrame) => {
    const { turn, session, chatId, messageId } = frame
    memory.handed({ turn, session, chatId, messageId })
    confirm(frame.n, deps.deliver(frame))
  }

  const confirm = (n: number, written: Promise<void>) => {
    const to = socket
    written.then(
      () => {
        if (socket === to) send({ t: 'ok', n })
      },
      (thrown) => log.error({ error: String(thrown) }, 'the host cannot be written to'),
    )
  }

  /** Sends the call now if a daemon is connected and the host is initialised; otherwise as soon as both hold. */
  const reach = (call: CallUnderWay) => {
    if (attached && host) return call.send()
    if (leftOnPurpose) deps.revive()
    if (!attached) call.waitForDaemon()
  }

  return {
    start: connect,
    welcome(withinMs) {
      if (attached) return Promise.resolve(attached)
      return new Promise((resolve) => {
        welcomed.push(resolve)
        after(withinMs, () => resolve(null))
      })
    },
    problem: () => problem,
    refusal: () => (refusal === null ? null : refusalText(refusal)),
    ready(client) {
      if (host) return
      host = { client }
      if (attached) enter(client)
    },
    call(tool, input, key) {
      const frame = { t: 'call', id: ++number, key: boundedName(key), tool, input } as const
      if (refusal !== null) return Promise.resolve(refused(refusal))
      // The daemon would end the connection for it, and every next daemon would get it again.
      if (isTooLong(frame)) return Promise.resolve(tooLong())
      return calls.add(frame, reach)
    },
    ask(ask) {
      const frame = { t: 'ask', id: ++number, ...ask } as const
      if (isTooLong(frame)) {
        log.error({ request: ask.requestId }, 'a permission request is too long to be passed on')
        return
      }
      memory.asking(frame)
      if (attached && host) send(frame)
    },
    stop() {
      stopped = true
      retry()
      silence()
      for (const cancel of timers) cancel()
      timers.clear()
      socket?.end()
      calls.end()
    },
  }
}

function refused(reason: string): ToolOutcome {
  return failedCall('execution_failed', refusalText(reason))
}

function refusalText(reason: string): string {
  return `The gateway refused this host: ${reason}`
}

function tooLong(): ToolOutcome {
  return failedCall('too_large', 'the arguments of this call are too long')
}
