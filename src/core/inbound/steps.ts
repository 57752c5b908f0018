// The ordered list of intake steps. The order is a promise: first the flood guard, then who may talk, then verdicts and
// claims, then the sender's limit, then the binding and chat commands. The duplicate check is the unique key of the row,
// and the session is made in the same commit.
import type { StepResult } from '../../contract/index.ts'
import { CONTINUE } from '../../contract/index.ts'
import { pickInTap } from '../picks.ts'
import { bareVerdictHint } from './bare-verdict.ts'
import { claimStep } from './claim-step.ts'
import { commandStep } from './command-step.ts'
import { deleteStep } from './delete-step.ts'
import { mentionGate, senderGate } from './gate-steps.ts'
import { reportStep } from './report-step.ts'
import { barredStep, serverVerdictStep } from './server-step.ts'
import { showStep } from './show-step.ts'
import type { StepInput } from './step-input.ts'
import { verdictStep } from './verdict-step.ts'

export type Step = (input: StepInput) => StepResult

const STEPS: readonly Step[] = [
  floodGuard,
  parsable,
  barredStep,
  serverVerdictStep,
  deleteStep,
  reportStep,
  senderGate,
  filtered,
  included,
  verdictStep,
  showStep,
  claimStep,
  mentionGate,
  senderLimit,
  bound,
  commandStep,
  noted,
  notEmpty,
]

/** Runs the steps until one decides something other than to continue. */
export function runSteps(input: StepInput): StepResult {
  for (const step of STEPS) {
    const result = step(input)
    if (result.decision.go !== 'continue') return result
  }
  return bareVerdictHint(input)
}

function floodGuard(input: StepInput): StepResult {
  if (!input.floodLimit.over) return CONTINUE
  const { retryAfterMs } = input.floodLimit
  return { decision: { go: 'refuse', reason: 'flood', key: input.floodLimitKey, retryAfterMs } }
}

function parsable(input: StepInput): StepResult {
  if (input.event.kind !== 'unparsable') return CONTINUE
  return { decision: { go: 'refuse', reason: 'unparsable', key: input.event.problem } }
}

/** After the gate: a stranger is refused, whatever was sent. */
function filtered(input: StepInput): StepResult {
  return input.event.kind === 'filtered' ? { decision: { go: 'consume', reason: 'filtered' } } : CONTINUE
}

/** The missed message already contained this edit. */
function included({ event, late }: StepInput): StepResult {
  const isIncluded = late && event.kind === 'edit' && event.included
  return isIncluded ? { decision: { go: 'consume', reason: 'late' } } : CONTINUE
}

function senderLimit(input: StepInput): StepResult {
  if (!input.senderLimit.over) return CONTINUE
  const { retryAfterMs } = input.senderLimit
  return { decision: { go: 'refuse', reason: 'rate_limited', key: input.senderLimitKey, retryAfterMs } }
}

function bound(input: StepInput): StepResult {
  if (input.agent !== null) return CONTINUE
  return { decision: { go: 'refuse', reason: 'no_binding', key: 'agents[].inbound_bindings' } }
}

/** A reaction, or a tap that is no verdict: recorded, not handed to an agent. */
function noted(input: StepInput): StepResult {
  // A picked choice is an answer to the agent.
  if (input.event.kind === 'tap' && pickInTap(input.event.value) !== null) return CONTINUE
  if (input.event.kind === 'tap') return { decision: { go: 'consume', reason: 'tap' } }
  return input.event.kind === 'reaction' ? { decision: { go: 'consume', reason: 'noted' } } : CONTINUE
}

function notEmpty(input: StepInput): StepResult {
  const { event } = input
  if (event.kind !== 'message' && event.kind !== 'edit') return CONTINUE
  const bare = event.text.trim() === '' && (event.attachments?.length ?? 0) === 0
  return bare ? { decision: { go: 'refuse', reason: 'empty', key: '' } } : CONTINUE
}
