// Translates Claude Code's events. Receipts become evidence, text and tools become signals, and a result becomes the
// answer of the turns that it names. Events are processed in order.
import {
  type AgentOutlet,
  type AgentOutput,
  asSwitchboardError,
  type Cancel,
  type Clock,
  createSerial,
  type Logger,
  MOST_ANSWER_CHARS,
  type TurnJournal,
} from '../../contract/index.ts'
import { toolText } from '../../kit/index.ts'
import { wordsIn } from '../../words/index.ts'
import type { OpenTurn, OpenTurns } from './open-turns.ts'
import { costOf } from './usage.ts'
import { type ClaudeEvent, type Fields, textIn, textOf } from './wire.ts'

export interface EventTakerDeps {
  readonly agent: string
  readonly session: string
  /** The node, for a session that must not move to another one; null: there is one node. */
  readonly node: string | null
  readonly clock: Clock
  readonly log: Logger
  readonly journal: TurnJournal
  readonly outlet: () => AgentOutlet
  readonly turns: OpenTurns
  /** Called when Claude Code begins a turn. */
  readonly began: (turn: OpenTurn) => void
  /** Called when the set of open turns changed. */
  readonly changed: () => void
  /** Called when Claude Code knew the line and did not run it again. */
  readonly known: (turn: OpenTurn) => void
  readonly renamed: (id: string) => void
  /** The API refuses this sign-in. All work ends now. */
  readonly refused: (words: string) => void
  /** The problem that the operator must fix; null: none. */
  readonly trouble: (words: string | null) => void
}

export interface EventTaker {
  take(event: ClaudeEvent): void
  /** Ends a turn with a text of the connector itself. */
  answer(turn: OpenTurn, text: string): Promise<void>
  fail(turn: OpenTurn, detail: string): Promise<void>
  /** Returns turns that are no longer worked on. They are offered again. */
  giveBack(turns: readonly OpenTurn[], detail: string): Promise<void>
  /** A new process begins, so its cost starts at zero. */
  anew(): void
  /** The number of results so far. */
  results(): number
  /** Resolves when all events so far were processed. */
  settled(): Promise<void>
}

const PARTIAL_EVERY_MS = 300
const SHOWN_CHARS = 4_000
const DETAIL_CHARS = 500
const NAME_CHARS = 200
/** The most tools of one line that are shown. A line usually has one. */
const MOST_SHOWN = 100
/** A result may come this long after the receipt of its end. */
const RESULT_MS = 5_000
const NOT_SIGNED_IN =
  'Claude Code is not signed in: run `claude` and /login on that machine, or give it ANTHROPIC_API_KEY by connector.env'

export function createEventTaker(deps: EventTakerDeps): EventTaker {
  const { session, clock, turns, log } = deps
  const inOrder = createSerial()
  let text = ''
  // Kept as a flag, because searching the whole text for every piece would be quadratic.
  let hasWords = false
  const restart = (from = '') => {
    text = from
    hasWords = from.trim() !== ''
  }
  let shownAt = Number.NEGATIVE_INFINITY
  let cancelShow: Cancel = () => undefined
  let spent = 0
  let results = 0
  const toolNames = new Map<string, string>()

  // An async function rejects instead of throwing while the agent stops. Some calls come from a timer.
  const accept = async (output: AgentOutput) => deps.outlet().accept(output)
  const lossy = (output: AgentOutput) => void accept(output).catch(() => undefined)
  const close = (turn: OpenTurn) => {
    turns.remove(turn.delivery.turn)
    deps.changed()
  }
  /** A report that fails is recovered by the next owner of the lane. */
  const report = async (turn: OpenTurn, output: AgentOutput) => {
    try {
      await accept(output)
    } catch (thrown) {
      const error = asSwitchboardError(thrown)
      // The turn was answered by a reply, or has ended.
      if (error.code === 'conflict') return
      log.error({ turn: turn.delivery.turn, problem: error.message }, 'a turn could not be ended')
    }
  }

  const answer = async (turn: OpenTurn, words: string) => {
    const { turn: id } = turn.delivery
    close(turn)
    if (words.trim() === '') return report(turn, { kind: 'evidence', turn: id, of: 'answered' })
    const key = { idempotencyKey: `claude-code:${id}` }
    const once = { final: true, sole: true, unlessReplied: true } as const
    await report(turn, { kind: 'say', session, turn: id, text: words, ...once, ...key })
  }
  const fail = async (turn: OpenTurn, detail: string, said = '') => {
    close(turn)
    const { turn: id } = turn.delivery
    const short = detail.slice(0, DETAIL_CHARS)
    const came = said.trim() === '' ? {} : { text: said }
    await report(turn, { kind: 'failed', turn: id, reason: 'agent_failed', detail: short, ...came })
  }
  const giveBack = async (list: readonly OpenTurn[], detail: string) => {
    if (list.length === 0) return
    for (const turn of list) close(turn)
    const ids = list.map(({ delivery }) => delivery.turn)
    await accept({
      kind: 'returned',
      turns: ids,
      counted: true,
      detail: detail.slice(0, DETAIL_CHARS),
    }).catch((thrown) => log.error({ turns: ids, problem: String(thrown) }, 'turns could not be given back'))
  }

  /** Stored before the answer, because the money is spent in any case. */
  const keepCost = async ({ delivery }: OpenTurn, result: Fields) => {
    const { usage, model, total } = costOf(result, spent)
    spent = total
    try {
      const n = (await deps.journal.steps(delivery.turn)).length + 1
      const stop = (textOf(result.terminal_reason) ?? textOf(result.subtype))?.slice(0, NAME_CHARS) ?? null
      const body = { stop, node: deps.node }
      const step = { turn: delivery.turn, n, kind: 'model', body } as const
      await deps.journal.add({ ...step, usage: { ...usage, agent: deps.agent, model } })
    } catch (thrown) {
      log.warn({ turn: delivery.turn, problem: String(thrown) }, 'what a turn cost was not kept')
    }
  }

  const takeResult = async (ended: readonly OpenTurn[], result: Fields, written: string) => {
    // A turn that was stopped or given up has ended already.
    const [first, ...merged] = ended.filter((turn) => turns.get(turn.delivery.turn) === turn)
    if (!first) return
    await keepCost(first, result)
    if (result.is_error !== true) {
      deps.trouble(null)
      await answer(first, textOf(result.result) ?? written)
      for (const turn of merged) {
        close(turn)
        await report(turn, { kind: 'evidence', turn: turn.delivery.turn, of: 'answered', covered: true })
      }
      return
    }
    const why = errorWords(result)
    // It was stopped because of another turn. It is offered again and continues.
    if (/^aborted/.test(textOf(result.terminal_reason) ?? '')) return giveBack([first, ...merged], why)
    if (isRefusal(result, why)) deps.trouble(why)
    for (const turn of [first, ...merged]) await fail(turn, why)
  }

  const receipt = (uuid: string, state: string) => {
    const turn = turns.byUuid(uuid)
    if (!turn) return
    if (state === 'started') return begun(turn)
    if (state === 'completed' && !turn.started) return deps.known(turn)
    if (state !== 'completed' && state !== 'cancelled') return
    clock.after(RESULT_MS, () => {
      const still = turns.byUuid(uuid)
      if (still !== turn) return
      const last = text
      void inOrder(() =>
        state === 'completed' && last !== ''
          ? answer(turn, last)
          : state === 'completed'
            ? fail(turn, 'it ended without a result')
            : giveBack([turn], 'it was cancelled there'),
      )
    })
  }
  const begun = (turn: OpenTurn) => {
    if (turn.started) return
    turn.started = true
    deps.began(turn)
    void report(turn, { kind: 'evidence', turn: turn.delivery.turn, of: 'seen' })
  }

  const show = () => {
    cancelShow()
    const turn = turns.current()
    if (!turn || !hasWords) return
    const waitMs = shownAt + PARTIAL_EVERY_MS - clock.now()
    if (waitMs > 0) {
      // The last piece is shown too, although no other follows it.
      cancelShow = clock.after(waitMs, show)
      return
    }
    shownAt = clock.now()
    lossy({ kind: 'partial', session, turn: turn.delivery.turn, text })
  }
  const words = wordsIn().work
  const status = (line: string) => {
    const turn = turns.current()
    if (turn) lossy({ kind: 'status', session, turn: turn.delivery.turn, text: line })
  }
  const event = (kind: 'tool_call' | 'tool_result', call: string, name: string, said: string) => {
    const turn = turns.current()?.delivery.turn
    if (turn === undefined) return
    const shown = said.slice(0, SHOWN_CHARS)
    lossy({ kind: 'event', event: { turn, kind, call, name, text: shown, key: `${kind}:${call}` } })
  }

  const said = (blocks: readonly Fields[], sub: boolean) => {
    for (const block of blocks.filter(({ type }) => type === 'tool_use').slice(0, MOST_SHOWN)) {
      const [id, name] = [textOf(block.id) ?? '', textOf(block.name) ?? words.unnamedTool]
      status(sub ? words.subagentUses({ tool: name }) : words.using({ tool: name }))
      if (sub) continue
      if (toolNames.size < 1_000) toolNames.set(id, name)
      event('tool_call', id, name, toolText(block.input, SHOWN_CHARS))
    }
    // The text of a subagent is not the answer.
    if (!sub && textIn(blocks) !== '') restart(textIn(blocks))
  }

  const takers: { readonly [K in ClaudeEvent['kind']]?: (event: Extract<ClaudeEvent, { kind: K }>) => void } =
    {
      init: ({ session: id, servers }) => {
        if (id !== null) deps.renamed(id)
        const failed = servers.filter((one) => one.status === 'failed').map((one) => textOf(one.name))
        if (failed.length > 0)
          log.warn({ session, servers: failed }, 'tool servers are not reached by Claude Code')
      },
      receipt: ({ uuid, state }) => receipt(uuid, state),
      replay: ({ uuid }) => {
        const turn = turns.byUuid(uuid)
        if (turn) begun(turn)
      },
      retry: ({ waitMs, why, status: refusal, attempt }) => {
        // The first refusal may come while the sign-in is renewed. With a wrong one the program would retry for
        // minutes.
        if ((refusal === 401 || refusal === 403) && attempt !== 1) return deps.refused(refusalWords(refusal))
        status(words.waiting({ seconds: Math.ceil(waitMs / 1_000), why: why.slice(0, 200) }))
      },
      began: () => {
        restart()
      },
      delta: ({ text: piece }) => {
        // The result brings the whole text, so a very long text need not be kept whole here.
        text += piece.slice(0, MOST_ANSWER_CHARS + 1 - text.length)
        hasWords ||= piece.trim() !== ''
        show()
      },
      said: ({ blocks, sub }) => said(blocks, sub),
      results: ({ blocks, sub }) => {
        if (sub) return
        for (const block of blocks.filter(({ type }) => type === 'tool_result').slice(0, MOST_SHOWN)) {
          const id = textOf(block.tool_use_id) ?? ''
          event(
            'tool_result',
            id,
            toolNames.get(id) ?? words.unnamedTool,
            toolText(block.content, SHOWN_CHARS),
          )
          toolNames.delete(id)
        }
      },
      result: ({ result }) => {
        results += 1
        const written = text
        restart()
        const uuids = Array.isArray(result.user_message_uuids)
          ? result.user_message_uuids.filter((one): one is string => typeof one === 'string')
          : null
        // Done at once, because the program's next request belongs to its next turn.
        const ended = turns.endedBy(uuids)
        void inOrder(() => takeResult(ended, result, written))
      },
    }

  return {
    take(event) {
      ;(takers[event.kind] as ((event: ClaudeEvent) => void) | undefined)?.(event)
    },
    answer: (turn, words) => inOrder(() => answer(turn, words)),
    fail: (turn, detail) => inOrder(() => fail(turn, detail)),
    giveBack: (list, detail) => inOrder(() => giveBack(list, detail)),
    anew() {
      spent = 0
      restart()
      toolNames.clear()
    },
    results: () => results,
    settled: () => inOrder(async () => undefined),
  }
}

function refusalWords(status: number): string {
  return `the API refuses the key or sign-in of Claude Code (${status}): run \`claude\` and /login on that machine, or mend ANTHROPIC_API_KEY in connector.env`
}

function isRefusal({ api_error_status: status }: Fields, why: string): boolean {
  return why === NOT_SIGNED_IN || status === 401 || status === 403
}

/** `is_error` decides, not `subtype`: an API error arrives with the subtype of a success. */
function errorWords(result: Fields): string {
  const said = textOf(result.result) ?? ''
  if (/not logged in|please run \/login|invalid api key|authentication_failed/i.test(said))
    return NOT_SIGNED_IN
  const [first] = Array.isArray(result.errors) ? result.errors : []
  return said || textOf(first) || textOf(result.subtype) || 'it failed'
}
