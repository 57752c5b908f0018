// What `doctor` begins with: every problem, with the command or key that mends it, worst first.
import type { DoctorReport, GateView } from '../../contract/index.ts'
import { oneLine } from './text.ts'

export interface DoctorProblem {
  readonly text: string
  /** A command, or the key to change. */
  readonly mend: string
}

/** `hosted`: agents that are reached by a host which a person starts. */
export function problemsOf(report: DoctorReport, hosted: readonly string[]): readonly DoctorProblem[] {
  const found: DoctorProblem[] = []
  const say = (text: string, mend: string) => void found.push({ text: oneLine(text), mend: oneLine(mend) })
  if (report.store.problem !== undefined) say(report.store.problem, 'mend what it says; it goes on by itself')
  if (report.config.problem !== null)
    say(
      `the file does not hold, the one before stays in force: ${report.config.problem}`,
      'switchboard check',
    )
  if (report.ledger?.problem) say(report.ledger.problem, 'switchboard audit verify')
  for (const warning of report.cluster?.warnings ?? []) say(warning, 'switchboard status')
  for (const { from, problem, changed, gone } of report.modules ?? []) {
    if (problem !== null) say(`module ${from}: ${problem}`, 'switchboard check')
    else if (gone)
      say(
        `the file of module ${from} is gone (no such file): what was loaded runs until the next start`,
        'put it back, or take it out of modules:',
      )
    else if (changed) say(`module ${from} changed since it was loaded`, 'switchboard restart')
  }
  for (const { id, link, detail, gates } of report.integrations) {
    const stops = gates.filter((gate) => !gate.pass && gate.gate !== 'link')
    if (link === 'down')
      say(
        `integration ${id} is down${detail === undefined ? '' : `: ${detail}`}`,
        mendOf(detail, `switchboard logs --integration ${id}`),
      )
    for (const gate of stops) say(`integration ${id}: ${gate.gate}: ${gate.reason}`, keyOf(gate))
  }
  for (const { id, attached, state, since, detail, bindings } of report.agents) {
    if (!attached)
      say(
        `agent ${id} is absent${detail === undefined ? '' : `: ${detail}`}`,
        hosted.includes(id)
          ? `switchboard init claude-code --agent ${id}, then start Claude Code as it says`
          : mendOf(detail, 'switchboard logs'),
      )
    if (state === 'unreachable' || state === 'failing')
      say(
        `agent ${id} is ${state} since ${since}: ${detail}`,
        state === 'unreachable'
          ? 'start the agent, or mend its url; waiting messages follow by themselves'
          : 'mend what it says; the state goes with the next good answer',
      )
    // It is there and says what keeps it from its work; of a host it only says which one it is.
    if (
      state === 'attached' &&
      detail !== undefined &&
      !hosted.includes(id) &&
      !/^at node [^:]*$/.test(detail)
    )
      say(`agent ${id}: ${detail}`, 'mend what it says; it goes on by itself')
    if (bindings.length === 0)
      say(`agent ${id} is bound to nothing: nobody can reach it`, `agents: ${id}: inbound_bindings`)
    for (const { integration, gates } of bindings)
      for (const gate of gates)
        if (!gate.pass && !isNamedAlready(report, id, integration, gate))
          say(`${integration} → ${id}: ${gate.gate}: ${gate.reason}`, keyOf(gate))
  }
  for (const { turn, agent, why, more } of report.unseen ?? []) {
    say(
      `turn ${turn} of ${agent} was handed over, and nothing shows that it was seen: ${why}`,
      `switchboard logs --turn ${turn}`,
    )
    if (more)
      say(`more turns of ${agent} lie there unseen`, `switchboard turns --agent ${agent} --state handed`)
  }
  for (const { agent, reason } of report.turned_away ?? [])
    say(`a host for ${agent} was turned away: ${reason}`, `switchboard init claude-code --agent ${agent}`)
  for (const { server, problem } of report.tools_left_out ?? [])
    say(`tools of ${server} are left out: ${problem}`, 'mend that server')
  return found
}

/** What is open wider than most would want: no problem, and not to be overlooked. */
export function openDoors(report: DoctorReport): readonly string[] {
  const gates = [
    ...report.integrations.flatMap(({ id, gates: own }) => own.map((gate) => ({ of: id, gate }))),
    ...report.agents.flatMap(({ bindings }) =>
      bindings.flatMap(({ integration, gates: own }) => own.map((gate) => ({ of: integration, gate }))),
    ),
  ]
  const flagged = gates.filter(({ gate }) => gate.flagged === true)
  return [
    ...new Set(
      flagged.map(({ of, gate }) =>
        oneLine(`${of}: ${gate.gate}: ${gate.reason}${gate.key === '' ? '' : ` [${gate.key}]`}`),
      ),
    ),
  ]
}

const keyOf = (gate: GateView) => (gate.key === '' ? 'see the reason' : `change ${gate.key}`)

/** A link or an absence that was named by itself is not named again for each binding. */
function isNamedAlready(report: DoctorReport, agent: string, integration: string, gate: GateView): boolean {
  const link = report.integrations.find(({ id }) => id === integration)
  const absent = report.agents.some(({ id, attached }) => id === agent && !attached)
  return (
    (gate.gate === 'link' && link?.link === 'down') ||
    (absent && /^(agent|attached|host|connector)$/.test(gate.gate))
  )
}

/** A reference that leads nowhere is mended by setting it; else the log has the story. */
function mendOf(detail: string | undefined, logs: string): string {
  const name = /secret:([A-Za-z0-9_.-]+)/.exec(detail ?? '')?.[1]
  return name === undefined ? logs : `switchboard secrets set ${name}`
}
