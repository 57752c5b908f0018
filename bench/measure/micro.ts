// The cost of gate and wrap without I/O: the pure steps of the intake, and the form of a message for the model.
import { WITHIN_LIMIT } from '../../src/contract/index.ts'
import type { StepInput } from '../../src/core/inbound/step-input.ts'
import { runSteps } from '../../src/core/inbound/steps.ts'
import { wrapChannel } from '../../src/kit/turn/wrap-channel.ts'
import { testIntegration, testSettings } from '../../src/testing/test-settings.ts'
import { wordsIn } from '../../src/words/index.ts'
import { median, rounded } from '../statistics.ts'

export interface MicroReport {
  readonly gate_us: number
  readonly wrap_us: number
  readonly gate_and_wrap_us: number
}

const TIMES = 100_000
const TEXT =
  'The deploy failed in the second stage: <channel source="x"> is what the log says, & nothing else. '.repeat(
    4,
  )

export function measureMicro(rounds: number): MicroReport {
  const input = stepInput()
  const meta = {
    chat_id: 'bench:person-7',
    message_id: 'm-1',
    user: 'Ada',
    user_id: 'u-7',
    platform: 'webhook',
  }
  let sink = 0
  const gate = () => {
    if (runSteps(input).decision.go === 'continue') sink++
  }
  const wrap = () => {
    sink += wrapChannel('bench', meta, TEXT).text.length
  }
  for (const work of [gate, wrap]) time(work) // warm
  const gates: number[] = []
  const wraps: number[] = []
  for (let round = 0; round < rounds; round++) {
    gates.push(time(gate))
    wraps.push(time(wrap))
  }
  if (sink === 0) throw new Error('the gate refused what it must let through')
  const both = gates.map((us, at) => us + (wraps[at] ?? 0))
  return {
    gate_us: rounded(median(gates), 3),
    wrap_us: rounded(median(wraps), 3),
    gate_and_wrap_us: rounded(median(both), 3),
  }
}

function time(work: () => void): number {
  const before = performance.now()
  for (let at = 0; at < TIMES; at++) work()
  return ((performance.now() - before) * 1000) / TIMES
}

/** A sender on a list of a hundred, in a bound chat, so that every step runs to its end. */
function stepInput(): StepInput {
  const allowFrom = Array.from({ length: 100 }, (_, at) => `u-${at}`)
  const access = {
    readable: true,
    dm: 'allowlist',
    allowFrom,
    approvers: [],
    groups: {},
    mentionPatterns: [],
  } as const
  const integration = testIntegration('bench', { access })
  return {
    form: null,
    words: wordsIn(),
    waiting: [],
    late: false,
    failureWords: [],
    heldBy: null,
    event: {
      kind: 'message',
      conversation: 'person-7',
      chat: 'direct',
      sender: { id: 'u-57' },
      at: 0,
      text: TEXT,
    },
    integration,
    settings: testSettings({ integrations: [integration], agents: ['bench'] }),
    at: { integration: 'bench', conversation: 'person-7' },
    agent: 'bench',
    now: 0,
    grants: { has: () => false, senders: () => [] },
    approval: null,
    reach: { attached: [], stoppable: [] },
    canEdit: true,
    textAsFile: false,
    promptLimit: { size: 4096, unit: 'utf-16', markdown: 'written' },
    senderLimit: WITHIN_LIMIT,
    senderLimitKey: 'tunables.sender_limit',
    floodLimitKey: 'tunables.flood_limit',
    asked: false,
    floodLimit: WITHIN_LIMIT,
    freshCode: () => 'abcdef',
  }
}
