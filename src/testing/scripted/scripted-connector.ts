// A scripted agent. It records its deliveries, answers by script, and can be absent, slow or broken. Like a real agent
// it outlives the gateway.
import {
  type Accepted,
  type AgentConnector,
  type AgentOutlet,
  type AgentOutput,
  type Ask,
  type ConnectorDeps,
  type Delivery,
  defined,
  type NewFile,
  type OpenAtHost,
  type Redelivery,
  type Verdict,
} from '../../contract/index.ts'

/** What the agent does with a delivery. If it throws, the agent did not take the turn. */
export type Script = (delivery: Delivery, agent: ScriptedAgent) => Promise<void> | void

export interface ScriptedAgentOptions {
  readonly redelivery?: Redelivery
  readonly window?: number
  readonly holdsDecisions?: boolean
  /** False starts detached, until `attach` is called. */
  readonly attached?: boolean
  /** False is a connector that cannot stop a running turn. */
  readonly cancels?: boolean
  /** True is an agent that keeps its turns when the gateway ends, however it ends. */
  readonly keeps?: boolean
  /** The first answer of `verdict`. The default is `relayed`. */
  readonly verdict?: 'relayed' | 'gone' | 'fetched'
  /** True reports the agent's `room`: how many turns can be written to it. False means one at a time. */
  readonly roomed?: boolean
  /** True allows overlapping deliveries of one session. */
  readonly overlaps?: true
  /** A delivery lasts as long as its answer. A stop waits this long for deliveries. */
  readonly finishMs?: number
  /** The credentials that go out with every turn. */
  readonly mints?: AgentConnector['mints']
}

export interface ScriptedAgent {
  readonly id: string
  readonly deliveries: readonly Delivery[]
  readonly verdicts: readonly Verdict[]
  readonly cancelled: readonly { readonly session: string; readonly turn: string | null }[]
  /** The answer of `verdict` from now on. */
  hears: 'relayed' | 'gone' | 'fetched'
  /** What the agent does with a delivery. The default answers `re: TEXT`. */
  script: Script
  /** Runs before a turn with attachments is written. The default does nothing. */
  prepare: (delivery: Delivery) => Promise<void> | void
  /** The number of turns that can be written now. */
  readonly room: number
  makeRoom(room: number): void
  /** The number of deliveries, failed ones included. */
  readonly tries: number
  /** Makes the next deliveries throw these errors, one each. */
  failNext(...errors: readonly Error[]): void
  attach(): void
  detach(detail?: string): void
  answer(delivery: Delivery, text: string, more?: { readonly files?: readonly NewFile[] }): Promise<Accepted>
  say(delivery: Delivery, text: string, idempotencyKey?: string): Promise<Accepted>
  speak(session: string, text: string, options?: { readonly afterMs?: number }): Promise<Accepted>
  ask(delivery: Delivery, ask: Ask): Promise<Accepted>
  /**
   * Asks like a host that names no turn. Its connector only assumes which turn the question is about. `at` lists what
   * is open at the host.
   */
  guess(delivery: Delivery, ask: Ask, at?: OpenAtHost): Promise<Accepted>
  /** Reports that a host attached which still waits for these requests. */
  waits(host: string, requests: readonly string[]): Promise<Accepted>
  evidence(delivery: Delivery, of: 'seen' | 'answered', how?: { readonly working: true }): Promise<Accepted>
  fail(delivery: Delivery, detail: string, how?: { readonly unlessWorking: true }): Promise<Accepted>
  /** Reports that the agent has the turn no longer and does not work on it. */
  giveBack(delivery: Delivery): Promise<Accepted>
  /** Reports that a turn was offered again but the agent had it already. */
  kept(delivery: Delivery, seen: boolean): Promise<Accepted>
  /** Reports a problem before the end of the turn. It is kept beside the turn. */
  trouble(delivery: Delivery, text: string): Promise<Accepted>
  status(delivery: Delivery, text: string): Promise<Accepted>
  /** Sends the answer as written so far. */
  partial(delivery: Delivery, text: string): Promise<Accepted>
  /** Sends any output of an agent. */
  accept(output: AgentOutput): Promise<Accepted>
  /** Fetches the answer to a question of the agent. */
  fetchVerdict(approval: string, turn: string): Promise<Verdict | 'pending'>
  /** How long a person was asked during this turn. */
  askedMs(turn: string, since: number): Promise<number>
  texts(): readonly string[]
}

export interface ScriptedConnector {
  readonly name: string
  create(deps: ConnectorDeps): AgentConnector
  agent(id: string): ScriptedAgent
}

export const AGAIN: Redelivery = { handed: 'again', seen: 'again', afterTimeout: false }

interface Seat {
  readonly agent: ScriptedAgent
  connector(): AgentConnector
}

export function createScriptedConnector(
  options: ScriptedAgentOptions = {},
  perAgent: Readonly<Record<string, ScriptedAgentOptions>> = {},
): ScriptedConnector {
  const seats = new Map<string, Seat>()
  const seat = (id: string): Seat => {
    const known = seats.get(id) ?? createSeat(id, { ...options, ...perAgent[id] })
    seats.set(id, known)
    return known
  }
  return {
    name: 'test',
    agent: (id) => seat(id).agent,
    create: ({ agent }) => seat(agent.id).connector(),
  }
}

function createSeat(id: string, options: ScriptedAgentOptions): Seat {
  const deliveries: Delivery[] = []
  const verdicts: Verdict[] = []
  const cancelled: { session: string; turn: string | null }[] = []
  const errors: Error[] = []
  let attached = options.attached ?? true
  let room = 0
  let tries = 0
  let outlet: AgentOutlet | null = null

  const accept: AgentOutlet['accept'] = async (output) => {
    if (!outlet) throw new Error(`${id} has nobody to talk to`)
    return outlet.accept(output)
  }
  const of = ({ session, turn }: Delivery) => ({ session, turn })

  const agent: ScriptedAgent = {
    id,
    deliveries,
    verdicts,
    cancelled,
    hears: options.verdict ?? 'relayed',
    script: async (delivery) => {
      await agent.answer(delivery, `re: ${delivery.text}`)
    },
    prepare: () => undefined,
    get tries() {
      return tries
    },
    get room() {
      return room
    },
    makeRoom(now) {
      room = now
      outlet?.roomy()
    },
    failNext: (...list) => void errors.push(...list),
    attach() {
      attached = true
      outlet?.presence(true)
    },
    detach(detail) {
      attached = false
      outlet?.presence(false, detail)
    },
    answer: (delivery, text, more = {}) =>
      accept({ kind: 'say', ...of(delivery), text, final: true, ...more }),
    say: (delivery, text, idempotencyKey) =>
      accept({
        kind: 'say',
        ...of(delivery),
        text,
        ...defined({ idempotencyKey }),
      }),
    speak: (session, text, more = {}) => accept({ kind: 'say', session, text, ...more }),
    ask: (delivery, ask) => accept({ kind: 'ask', ...of(delivery), ask }),
    guess: (delivery, ask, at) =>
      accept({ kind: 'ask', ...of(delivery), guessed: true, ask, ...(at ? { at } : {}) }),
    waits: (host, requests) => accept({ kind: 'waits', host, requests }),
    evidence: (delivery, what, how) => accept({ kind: 'evidence', turn: delivery.turn, of: what, ...how }),
    fail: (delivery, detail, how) =>
      accept({ kind: 'failed', turn: delivery.turn, reason: 'agent_failed', detail, ...how }),
    trouble: ({ turn }, text) =>
      accept({ kind: 'event', event: { turn, kind: 'error', call: null, name: null, text, key: null } }),
    kept: ({ turn }, seen) => accept({ kind: 'kept', turn, seen }),
    giveBack: ({ turn }) => accept({ kind: 'returned', turns: [turn], counted: false, detail: 'given back' }),
    status: (delivery, text) => accept({ kind: 'status', ...of(delivery), text }),
    partial: (delivery, text) =>
      accept({ kind: 'partial', session: delivery.session, turn: delivery.turn, text }),
    accept,
    async fetchVerdict(approval, turn) {
      if (!outlet) throw new Error(`${id} has nobody to talk to`)
      return outlet.fetchVerdict(approval, turn)
    },
    async askedMs(turn, since) {
      if (!outlet) throw new Error(`${id} has nobody to talk to`)
      return outlet.askedMs(turn, since)
    },
    texts: () => deliveries.map((one) => one.text),
  }

  return {
    agent,
    connector: () => ({
      redelivery: options.redelivery ?? AGAIN,
      window: options.window ?? 1,
      holdsDecisions: options.holdsDecisions ?? true,
      ...(options.verdict === 'fetched' ? { fetchesVerdicts: true } : {}),
      async start(given) {
        outlet = given
        if (attached) given.presence(true)
      },
      async deliver(delivery) {
        tries += 1
        const error = errors.shift()
        if (error) throw error
        outlet?.reached(null)
        room -= 1
        deliveries.push(delivery)
        await agent.script(delivery, agent)
      },
      ...(options.mints ? { mints: options.mints } : {}),
      ...defined({ finishMs: options.finishMs }),
      ...(options.overlaps ? { overlaps: options.overlaps } : {}),
      ...(options.roomed ? { room: () => room } : {}),
      async prepare(delivery) {
        await agent.prepare(delivery)
      },
      takeUp: () => options.keeps ?? false,
      async verdict(verdict) {
        if (agent.hears !== 'relayed') return agent.hears
        verdicts.push(verdict)
        return 'relayed'
      },
      ...(options.cancels === false
        ? {}
        : {
            async cancel(session: string, turn: string | null) {
              cancelled.push({ session, turn })
              return true
            },
          }),
      async stop() {
        outlet?.presence(false)
        outlet = null
      },
    }),
  }
}
