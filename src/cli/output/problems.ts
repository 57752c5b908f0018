// What stands open wider than most would want: `doctor` lists it beside the problems.
import type { DoctorReport } from '../../contract/index.ts'
import { oneLine } from './text.ts'

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
