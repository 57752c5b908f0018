// docs/guide/command-line.md names every command that the program has.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createProgram } from '../src/cli/program.ts'

const page = readFileSync(new URL('../docs/guide/command-line.md', import.meta.url), 'utf8')
const program = createProgram(async () => undefined, { out: () => undefined, err: () => undefined })
/** `planned` ones say so themselves when they are run. */
const told = program.commands.filter((command) => !/\bplanned\b/.test(command.description()))

it.each(told.map((command) => [command.name(), command.commands.map((verb) => verb.name())] as const))(
  '%s and its verbs are explained there',
  (name, verbs) => {
    const rows = page.split('\n').filter((line) => new RegExp(`^\\|.*\`${name}\\b`).test(line))
    expect(rows).not.toEqual([])
    const hidden = verbs.filter((verb) => verb !== 'list' && !rows.some((row) => row.includes(verb)))
    expect(hidden).toEqual([])
  },
)
