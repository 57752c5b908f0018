// A connector of somebody else beside ours: its emulator runs, and its questions are asked and taken as flags.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runEmulate } from './commands/emulate.ts'
import { createContext } from './context.ts'
import { command, freshFolder, rememberingTerminal } from './fixtures/fake-daemon.ts'

const { path } = freshFolder()

const MODULE = `
const string = { type: 'string' }
const schema = { type: 'object', additionalProperties: false, properties: { tone: string, key: { ...string, 'x-secret': true } } }
const options = { '~standard': { version: 1, vendor: 'own', validate: (value) => ({ value }), jsonSchema: { input: () => schema } } }
export const connectors = [{ name: 'parrot', options, docs: 'https://example.com', create() { throw new Error('not here') },
  emulator: async ({ onBot }) => ({
    url: 'http://127.0.0.1:1', token: 't', integration: {}, environment: { PARROT_KEY: 'k' }, more: [],
    connector: { type: 'parrot', tone: 'low', key: 'env:PARROT_KEY' },
    says: (text) => onBot('hears ' + text), taps: () => undefined, stop: async () => undefined,
  }),
}]
`

/** The words that lead to a file that names the module. */
function withModule(): readonly string[] {
  const file = join(path(), 'switchboard.yaml')
  writeFileSync(join(path(), 'parrot.mjs'), MODULE)
  writeFileSync(file, 'modules: [./parrot.mjs]\n')
  return ['--config', file, '--data', join(path(), 'data')]
}

it('[I13.emulator-row] emulate runs the emulator of a connector of somebody else, and names it', async () => {
  const [, config = ''] = withModule()
  const terminal = rememberingTerminal()
  const context = createContext(terminal, { config })
  const ended = runEmulate(
    context,
    'parrot',
    {},
    {
      onLine: (run) => run('hello'),
      onStop: (run) => run(),
    },
  )
  expect(await ended).toBe(0)
  expect(terminal.printed.out).toContain('- { id: parrot, connector: { type: parrot, tone: low, key: env:')
  expect(terminal.printed.out).toContain('PARROT_KEY=k')
  expect(terminal.printed.out).toContain('bot hears hello')
  const none = await command(['emulate', 'nobody', '--config', config])
  expect(none.err).toMatch(
    /there is: switchboard emulate telegram,.* emulate llm, switchboard emulate parrot/,
  )
})
