// A problem of the configuration: its place, its message, and what to do. It never holds a secret.
import { basename } from 'node:path'
import { SwitchboardError } from '../contract/index.ts'
import { shownName } from './yaml/shown-names.ts'

export type Path = readonly (string | number)[]

export interface Problem {
  /** From 1; 0 when the file as a whole is meant. */
  readonly line: number
  readonly column: number
  /** `integrations[0].platform`; '' for the file. */
  readonly path: string
  readonly message: string
  readonly hint: string | null
  /** The source line, with values masked that could be secret. '': there is none. */
  readonly excerpt: string
  /** Where in the excerpt the caret stands (masking may have moved it). */
  readonly caret: number
}

/** `agents[0].channels.approved`; names that are not plain words are quoted. */
export function formatPath(path: Path): string {
  let out = ''
  for (const part of path) {
    if (typeof part === 'number') out += `[${part}]`
    else {
      const name = shownName(part)
      if (/^[A-Za-z_][\w-]*$/.test(name)) out += out === '' ? name : `.${name}`
      else out += `[${JSON.stringify(name)}]`
    }
  }
  return out
}

/** `switchboard.yaml:12:5 unknown key "platfrom" — did you mean "platform"?`, then the line and a caret. */
function renderProblem(file: string, problem: Problem): string {
  const place = problem.line > 0 ? `${file}:${problem.line}:${problem.column}` : file
  const hint = problem.hint === null ? '' : ` — ${problem.hint}`
  const head = `${place} ${problem.message}${hint}`
  if (problem.excerpt === '') return head
  const gutter = `${problem.line} | `
  const caret = ' '.repeat(gutter.length + Math.max(0, problem.caret - 1))
  return `${head}\n${gutter}${problem.excerpt}\n${caret}^`
}

export function renderProblems(file: string, problems: readonly Problem[]): string {
  const shown = problems.slice(0, 20).map((problem) => renderProblem(file, problem))
  if (problems.length > shown.length) shown.push(`… and ${problems.length - shown.length} more`)
  return shown.join('\n')
}

/** One error for the command line: exit 2 with every place, line, column and hint. */
export function configError(file: string, problems: readonly Problem[]): SwitchboardError {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
  return new SwitchboardError('config_invalid', renderProblems(file, problems), {
    hint: `${basename(file)} has ${count}`,
  })
}
