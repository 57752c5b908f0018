// One turn at an ACP agent: its updates, its permission requests, and its end.
//
//   open    updates belong to the turn, and a permission request becomes an approval
//   ended   the agent stopped, the turn was cancelled, or the process is gone; open questions are answered as
//           cancelled, because an agent may hang on them, and later updates are dropped
import type { RequestPermissionOutcome, SessionUpdate } from '@agentclientprotocol/sdk'
import {
  type AgentOutlet,
  asSwitchboardError,
  type Cancel,
  type Clock,
  cutAnswer,
  type Delivery,
  type Logger,
  MOST_ANSWER_CHARS,
  type Verdict,
} from '../../contract/index.ts'
import { toolText } from '../../kit/index.ts'
import { wordsIn } from '../../words/index.ts'
import type { PermissionRequest } from './agent-link.ts'
import { isOwnTool } from './own-tool.ts'
import { canAllow, NOBODY_CHOSE, outcomeOf } from './permission.ts'
import { createToolCalls, isDone, outcomeText, shownInput, type ToolCallView } from './tool-calls.ts'
import type { TurnSteps } from './turn-steps.ts'

export interface TurnDeps {
  readonly outlet: AgentOutlet
  readonly clock: Clock
  readonly log: Logger
  readonly steps: TurnSteps
  readonly allowAlways: boolean
  /** Texts that no event may show. */
  readonly secrets: readonly string[]
  verdictOn(ask: () => Promise<string | null>, signal: AbortSignal): Promise<Verdict>
  /** The agent sent something, or a person is asked. */
  onSign(): void
}

export interface AcpTurn {
  readonly id: string
  readonly session: string
  /** A person is being asked, so the agent may be silent. */
  isAsking(): boolean
  onUpdate(update: SessionUpdate): void
  onPermission(request: PermissionRequest): Promise<RequestPermissionOutcome>
  /** The agent ended the turn. Resolves when the answer was accepted. */
  stopped(reason: string): Promise<void>
  failed(reason: 'agent_failed' | 'agent_silent', detail: string): Promise<void>
  /** Ends the turn without a report. */
  end(): void
}

const PARTIAL_EVERY_MS = 300
/** Longer inputs cannot be shown whole, so they are refused. */
const ASKED_CHARS = 100_000
const EVENT_CHARS = 4_000
/** A call that changes more often while it is asked about is denied. */
const MOST_ROUNDS = 3
/** The store keeps far fewer notes per turn. */
const MOST_NOTES = 10_000

export function createTurn(delivery: Delivery, deps: TurnDeps): AcpTurn {
  const { outlet, clock, log, steps } = deps
  const { session, turn } = delivery
  const over = new AbortController()
  const calls = createToolCalls()
  const told = new Set<string>()
  /** The text since the last tool call, and the texts before it. */
  let segment = ''
  let earlier = ''
  /** Whether the segment is only spaces. Kept as a flag, because searching it for every piece would be quadratic. */
  let isWordless = true
  let seen = false
  let asking = 0
  let shownAt = Number.NEGATIVE_INFINITY
  let cancelShow: Cancel = () => undefined

  const lossy = (output: Parameters<AgentOutlet['accept']>[0]) =>
    void outlet.accept(output).catch((problem) => log.debug({ turn, problem: String(problem) }, 'not taken'))
  const sawIt = () => {
    deps.onSign()
    if (seen) return
    seen = true
    lossy({ kind: 'evidence', turn, of: 'seen' })
  }
  const status = (text: string) => lossy({ kind: 'status', session, turn, text })

  const say = (text: string) => {
    // One character more than is sent shows that there was more.
    segment += text.slice(0, MOST_ANSWER_CHARS + 1 - segment.length)
    isWordless &&= text.trim() === ''
    show()
  }
  const show = () => {
    cancelShow()
    if (isWordless || over.signal.aborted) return
    const waitMs = shownAt + PARTIAL_EVERY_MS - clock.now()
    if (waitMs > 0) {
      // The last piece is shown too, although no other follows it.
      cancelShow = clock.after(waitMs, show)
      return
    }
    shownAt = clock.now()
    lossy({ kind: 'partial', session, turn, text: segment })
  }

  const follow = (call: ToolCallView) => {
    if (!isWordless) earlier = segment
    segment = ''
    isWordless = true
    const note = (kind: 'tool_call' | 'tool_result', value: unknown) => {
      const key = `${kind}:${call.id}`
      if (told.has(key) || told.size >= MOST_NOTES) return
      told.add(key)
      const text = toolText(value, EVENT_CHARS, deps.secrets)
      lossy({ kind: 'event', event: { turn, kind, call: call.id, name: call.title, text, key } })
      if (kind === 'tool_call') status(wordsIn().work.using({ tool: call.title }))
    }
    const kept = (work: Promise<void>) =>
      void work.catch((problem) => log.warn({ turn, problem: String(problem) }, 'a step was not kept'))
    note('tool_call', call.rawInput ?? call.title)
    kept(steps.begun(call))
    if (!isDone(call)) return
    kept(steps.done(call))
    note('tool_result', outcomeText(call))
  }

  /** Returns the answer: the text since the last tool, or the text before it if there is none. */
  const answer = () => {
    return cutAnswer(isWordless ? earlier : segment).trim()
  }

  const finish = async (work: () => Promise<unknown>) => {
    over.abort()
    try {
      await work()
    } catch (thrown) {
      // The turn was answered by one of our tools, or another node has it.
      if (asSwitchboardError(thrown, 'agent_failed').code === 'conflict') return
      log.error({ turn, problem: String(thrown) }, 'a turn could not be ended')
    }
  }
  const fail = (reason: 'agent_failed' | 'agent_silent', detail: string) =>
    finish(() => {
      const text = answer()
      return outlet.accept({ kind: 'failed', turn, reason, detail, ...(text === '' ? {} : { text }) })
    })

  /** A yes covers what was shown. If the agent changed the call meanwhile, the changed call is asked about. */
  const ask = async (first: ToolCallView): Promise<Verdict['behavior']> => {
    const description = wordsIn().work.forMessageOf({ name: delivery.sender.name ?? delivery.sender.id })
    let call = first
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      // A call that cannot be shown whole is not asked about.
      const input = shownInput(call, ASKED_CHARS)
      if (input === null) return 'deny'
      await steps.asked(call)
      const asked = { toolName: call.title, description, input }
      const { behavior } = await deps.verdictOn(
        async () => (await outlet.accept({ kind: 'ask', session, turn, ask: asked })).id,
        over.signal,
      )
      const now = calls.merge({ toolCallId: call.id })
      if (behavior !== 'allow') return behavior
      if (runs(now) === runs(call)) {
        await steps.allowed(now)
        return behavior
      }
      call = now
    }
    log.warn({ turn, call: first.id }, 'a tool call changed again and again while it was asked about: denied')
    return 'deny'
  }

  return {
    id: turn,
    session,
    isAsking: () => asking > 0,
    onUpdate(update) {
      if (over.signal.aborted) return
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
          sawIt()
          if (update.content?.type === 'text' && typeof update.content.text === 'string')
            say(update.content.text)
          return
        case 'agent_thought_chunk':
          return sawIt()
        case 'tool_call':
        case 'tool_call_update':
          sawIt()
          return follow(calls.merge(update))
        case 'plan': {
          sawIt()
          const now = Array.isArray(update.entries)
            ? update.entries.find((entry) => entry?.status === 'in_progress')
            : undefined
          if (typeof now?.content === 'string') status(now.content.slice(0, 200))
          return
        }
        default:
          // Modes, commands, titles and usage also come between turns, so they do not prove that this turn was seen.
          return deps.onSign()
      }
    },
    async onPermission({ toolCall, options }) {
      if (over.signal.aborted) return NOBODY_CHOSE
      sawIt()
      const call = calls.merge(toolCall)
      const always = deps.allowAlways
      // Our own tools are checked where they run, so no person is asked about them.
      if (isOwnTool(call) && canAllow(options, { always })) {
        await steps.allowed(call)
        return outcomeOf('allow', options, { always })
      }
      if (!canAllow(options, { always })) return outcomeOf('deny', options, { always })
      asking += 1
      status(wordsIn().work.waitingForApproval({ tool: call.title }))
      try {
        const verdict = await ask(call)
        return outcomeOf(verdict, options, { always })
      } catch (thrown) {
        if (over.signal.aborted) return NOBODY_CHOSE
        log.warn({ turn, problem: String(thrown) }, 'an approval could not be asked for')
        return outcomeOf('deny', options, { always })
      } finally {
        asking -= 1
        deps.onSign()
      }
    },
    async stopped(reason) {
      const text = answer()
      if (reason === 'refusal') return fail('agent_failed', 'the agent declined to answer')
      if (text === '' && reason !== 'end_turn' && reason !== 'cancelled')
        return fail('agent_failed', `the agent stopped (${reason.slice(0, 100)}) before it said anything`)
      const note = stoppedEarly(reason)
      const whole = note === null || text === '' ? text : `${text}\n\n${note}`
      await finish(() => {
        if (whole === '') return outlet.accept({ kind: 'evidence', turn, of: 'answered' })
        const key = `acp:${turn}`
        return outlet.accept({
          kind: 'say',
          session,
          turn,
          text: whole,
          final: true,
          sole: true,
          unlessReplied: true,
          idempotencyKey: key,
        })
      })
    },
    failed: fail,
    end: () => over.abort(),
  }
}

/** Returns the note on an answer that is not whole. Null: the agent was done. */
function stoppedEarly(reason: string): string | null {
  const { work } = wordsIn()
  switch (reason) {
    case 'max_tokens':
      return work.tokensUsedUp
    case 'max_turn_requests':
      return work.stepsUsedUp
    case 'cancelled':
      return work.stoppedEarly
    default:
      return null
  }
}

/** Returns what the agent says that it will run. */
function runs({ rawInput, wholeTitle }: ToolCallView): string {
  return rawInput === undefined || rawInput === null ? wholeTitle : JSON.stringify(rawInput)
}
