// One attached shim, seen from the daemon. The hello comes first. Then events and verdicts go out, and calls and
// permission requests come in. A mistake of a peer ends only its own connection, with the reason.
import {
  type AttachedHost,
  type Cancel,
  type Clock,
  defined,
  type FramePipe,
  type FrameReader,
  type HostEvent,
  type HostPost,
  type HostSeat,
  type HostVerdict,
  type Logger,
  SwitchboardError,
} from '../contract/index.ts'
import {
  ATTACH_VERSION,
  type DaemonFrame,
  encodeFrame,
  FrameError,
  type HelloFrame,
  isTooLong,
  isUndeliverable,
  parseShimFrame,
  type ShimFrame,
  type WelcomeFacts,
} from './frames.ts'

export interface HostConnectionDeps {
  readonly id: string
  readonly clock: Clock
  readonly log: Logger
  readonly version: string
  postOf(agent: string): HostPost | undefined
  abilities(agent: string): WelcomeFacts
  /** A host wanted to serve this agent and was refused. */
  turnedAway(agent: string, reason: string): void
  attached(host: AttachedHost): void
  /** A tool call is running until this resolves. */
  calling(call: Promise<void>): void
  detached(host: AttachedHost): void
}

const HELLO_MS = 5_000
const PING_MS = 15_000
const SILENCE_MS = 45_000
/** Events on their way to the host's pipe. Further events stay in its queue. */
const DELIVER_WINDOW = 256

export function openHostConnection(pipe: FramePipe, deps: HostConnectionDeps): FrameReader {
  const { clock, log } = deps
  let guest: { readonly post: HostPost; readonly hello: HelloFrame } | null = null
  let seat: HostSeat | null = null
  let host: AttachedHost | null = null
  let over = false
  let heardAt = clock.now()
  let number = 0
  const unconfirmed = new Map<number, (outcome: 'relayed' | 'gone') => void>()
  let timer: Cancel = clock.after(HELLO_MS, () => refuse('no hello within 5 s'))

  const send = (frame: DaemonFrame) => {
    if (!over) pipe.send(encodeFrame(frame))
  }

  const refuse = (reason: string) => {
    if (over) return
    log.warn({ host: deps.id, reason }, 'an attached process was refused')
    send({ t: 'refused', reason })
    finish()
  }

  const finish = () => {
    if (over) return
    over = true
    timer()
    pipe.end()
    if (host) deps.detached(host)
    seat?.detached()
    for (const settle of unconfirmed.values()) settle('gone')
    unconfirmed.clear()
  }

  const keepAsking = () => {
    timer = clock.after(PING_MS, () => {
      if (clock.now() - heardAt >= SILENCE_MS) return refuse('nothing was heard for 45 s')
      send({ t: 'ping' })
      keepAsking()
    })
  }

  const confirmed = (frame: (n: number) => DaemonFrame): Promise<'relayed' | 'gone'> =>
    new Promise((resolve) => {
      if (over) return resolve('gone')
      const n = ++number
      unconfirmed.set(n, resolve)
      send(frame(n))
    })

  const greet = (hello: HelloFrame) => {
    const { agent, dialect } = hello
    const turnAway = (reason: string) => {
      deps.turnedAway(agent, reason)
      refuse(reason)
    }
    const may = pipe.may?.(agent) ?? { allowed: true }
    if (!may.allowed) return turnAway(`agent "${agent}" may not be attached for: ${may.reason}`)
    const post = deps.postOf(agent)
    if (!post) return turnAway(`agent "${agent}" is not configured with connector { type: channel } here`)
    if (post.dialect !== dialect)
      return turnAway(`agent "${agent}" is configured with dialect ${post.dialect}, the shim has ${dialect}`)
    timer()
    keepAsking()
    guest = { post, hello }
    send({
      t: 'welcome',
      v: ATTACH_VERSION,
      ...deps.abilities(agent),
      version: deps.version,
    })
  }

  /** From now on a host behind the shim can take turns. */
  const admit = ({ post, hello }: NonNullable<typeof guest>, client: string | null) => {
    const { t: _t, v: _v, ...facts } = hello
    host = {
      id: deps.id,
      facts: { ...facts, shim: facts.shim ?? deps.id, client },
      local: pipe.may === undefined,
      origin: pipe.origin ?? 'local',
      room: () => (over ? 0 : Math.max(0, DELIVER_WINDOW - unconfirmed.size)),
      deliver(event: HostEvent) {
        // The shim would end the connection for it, and so would the next one.
        if (isUndeliverable(event))
          throw new SwitchboardError('too_large', 'the message is too long to be handed to a host')
        return confirmed((n) => ({ t: 'deliver', n, ...event }))
      },
      verdict: ({ requestId, behavior }: HostVerdict) =>
        confirmed((n) => ({ t: 'verdict', n, requestId, behavior })),
      close(reason) {
        send({ t: 'bye', reason })
        finish()
      },
    }
    deps.attached(host)
    seat = post.admit(host)
  }

  const arrive = (frame: ShimFrame, at: NonNullable<typeof guest>) => {
    if (frame.t === 'ready') admit(at, frame.client)
    else if (frame.t === 'ping') send({ t: 'pong' })
    else if (frame.t !== 'pong') refuse('ready comes after hello')
  }

  /** The call was done. If its result is too long for the shim, a shorter one is sent. */
  const sendResult = (frame: Extract<DaemonFrame, { t: 'result' }>) => {
    if (!isTooLong(frame)) return send(frame)
    // The model reads the text. The fields beside it are for programs, and may repeat much of it.
    const short = { ...frame, structured: { ok: !frame.isError, truncated: true } }
    if (!isTooLong(short)) return send(short)
    const text = 'the result is too long; ask for less (limit)'
    const structured = { ok: false, status: 'failed', code: 'too_large', error: text }
    send({ ...frame, text, isError: true, structured })
  }

  const take = (frame: ShimFrame, at: HostSeat) => {
    switch (frame.t) {
      case 'ok': {
        unconfirmed.get(frame.n)?.('relayed')
        unconfirmed.delete(frame.n)
        return
      }
      case 'call': {
        const { id, key, tool, input, proved } = frame
        const call = { key, tool, input, ...defined({ provedBefore: proved }) }
        const answered = at
          .call(call, (turn) => send({ t: 'evidence', id, turn }))
          .then(
            (answer) => sendResult({ t: 'result', id, ...answer }),
            (thrown) => log.error({ error: String(thrown) }, 'a tool call was not answered'),
          )
        return deps.calling(answered)
      }
      case 'ask': {
        const { t: _t, id, ...ask } = frame
        at.ask(ask).then(
          () => send({ t: 'asked', id }),
          (thrown) => log.error({ error: String(thrown) }, 'a permission request could not be kept'),
        )
        return
      }
      case 'ping':
        return send({ t: 'pong' })
      case 'pong':
        return
      case 'hello':
      case 'ready':
        return refuse(`${frame.t} was said twice`)
    }
  }

  return {
    line(text) {
      if (over) return
      heardAt = clock.now()
      try {
        const frame = parseShimFrame(text)
        if (seat) take(frame, seat)
        else if (guest) arrive(frame, guest)
        else if (frame.t === 'hello') greet(frame)
        else refuse('the first frame must be hello')
      } catch (thrown) {
        if (thrown instanceof FrameError) return refuse(thrown.message)
        // It is our own fault, so the connections of others stay open.
        log.error({ host: deps.id, error: String(thrown) }, 'a frame could not be worked on')
        refuse('an internal error; the log has the story')
      }
    },
    broken: refuse,
    closed: finish,
  }
}
