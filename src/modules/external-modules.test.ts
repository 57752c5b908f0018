// External modules: where they are found, what is refused and why, and that a misbehaving one harms no other.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SecretStore } from '../config/secrets/secret-store.ts'
import { openStoredIntegrations } from '../config/stored-integrations.ts'
import { findModule, stripsTypes } from './find-module.ts'
import { createModuleCatalog } from './module-catalog.ts'
import { tryModule } from './try-module.ts'
import { validateModule } from './validate-module.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sb-modules-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(path: string, text: string): string {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

/** A module without any library, with a handwritten schema. */
const source = (name: string, more = '') => `
const options = { '~standard': { version: 1, vendor: 'hand', validate: (value) => ({ value }),
  jsonSchema: { input: () => ({ type: 'object', properties: {} }) } } }
export const platforms = [{ name: '${name}', options, docs: 'https://example.com', create: () => ({}) }]
${more}`

const open = (modules: readonly string[], options = {}) =>
  createModuleCatalog(options).open({ folder, modules, platforms: [], connectors: [] })
const problemOf = async (entry: string, options = {}) => (await open([entry], options)).modules[0]?.problem

describe('where a module is', () => {
  it('[I13.modules-load] a file relative to the configuration, or an installed package with its version', async () => {
    write('adapters/matrix.mjs', source('matrix'))
    write(
      'node_modules/switchboard-irc/package.json',
      '{"version":"2.1.0","exports":{"import":"./irc.js"},"type":"module"}',
    )
    write('node_modules/switchboard-irc/irc.js', source('irc'))
    const catalog = await open(['./adapters/matrix.mjs', 'switchboard-irc'])
    expect(catalog.modules).toMatchObject([
      {
        from: './adapters/matrix.mjs',
        version: expect.stringMatching(/^sha256:[0-9a-f]{12}$/),
        platforms: ['matrix'],
        problem: null,
      },
      { from: 'switchboard-irc', version: '2.1.0', platforms: ['irc'], problem: null },
    ])
    expect(catalog.platformNames).toEqual(expect.arrayContaining(['matrix', 'irc', 'web']))
    expect(catalog.platform('matrix')?.create).toBeTypeOf('function')
  })

  it.each([
    ['data:text/javascript,export{}', 'is no module: expected a file'],
    ['https://example.com/x.mjs', 'is no module: expected a file'],
    ['file:///etc/passwd', 'is no module: expected a file'],
    ['adapters/matrix.mjs', 'is no module: expected a file'],
    ['switchboard-irc/../../secret', 'is no module: expected a file'],
    ['..', 'is no module: expected a file'],
    ['#internal', 'is no module: expected a file'],
    ['fs', 'is a part of Node.js'],
    ['no-such-package-here', 'is not installed'],
    ['matrix.mjs', 'if it is a file, write ./matrix.mjs'],
    ['beside', 'if it is a file, write ./beside'],
    ['./absent.mjs', 'is not there'],
    ['./folder.mjs', 'is no file'],
    ['./notes.txt', 'expected .js, .mjs or .ts'],
    ['./a\0b.mjs', 'is not there'],
  ])('[I13.modules-place] %j is refused', async (entry, why) => {
    mkdirSync(join(folder, 'folder.mjs'))
    write('notes.txt', '')
    write('beside', '')
    expect(await problemOf(entry)).toContain(why)
  })

  it('[I13.modules-place] a package that points out of itself is refused, and a link is shown as where it leads', () => {
    write('node_modules/sly/package.json', '{"version":"1.0.0","main":"../../evil.js"}')
    write('evil.js', '')
    expect(() => findModule('sly', folder)).toThrow('outside of its own package')
    const real = write('real/matrix.mjs', '')
    symlinkSync(real, join(folder, 'link.mjs'))
    expect(findModule('./link.mjs', folder).file).toBe(real)
  })

  it('[I13.modules-ts] TypeScript only where Node strips types, and the error says so', () => {
    write('a.ts', '')
    expect(stripsTypes({ typescript: 'strip' } as never)).toBe(true)
    expect(stripsTypes({ typescript: false } as never)).toBe(false)
    if (stripsTypes()) expect(findModule('./a.ts', folder).file).toContain('a.ts')
    else expect(() => findModule('./a.ts', folder)).toThrow('22.18 or newer')
  })
})

describe('what a module holds', () => {
  const schema = (json: () => unknown = () => ({ type: 'object' })) => ({
    '~standard': {
      version: 1,
      vendor: 'x',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: json },
    },
  })
  const whole = { name: 'matrix', options: schema(), docs: 'x', create: () => ({}) }
  const look = (exports: object) => () =>
    validateModule(exports as never, { platforms: new Set(['web']), connectors: new Set(['demo']) })

  it.each([
    [{}, 'exports neither "platforms" nor "connectors"'],
    [{ platforms: {} }, '"platforms" is no list'],
    [{ platforms: [null] }, 'platforms[0] is no module'],
    [{ platforms: [{ ...whole, name: undefined }] }, 'lacks "name"'],
    [{ platforms: [{ ...whole, create: undefined }] }, 'platform "matrix" lacks "create"'],
    [{ platforms: [{ ...whole, docs: '' }] }, 'lacks "docs"'],
    [{ platforms: [{ ...whole, options: {} }] }, 'lacks "options": a Standard Schema'],
    [
      { platforms: [{ ...whole, options: { '~standard': { version: 1, validate: () => 1 } } }] },
      'cannot tell its JSON Schema',
    ],
    [{ platforms: [{ ...whole, options: schema(() => ({ type: 'string' })) }] }, 'is no object of keys'],
    [
      {
        platforms: [
          {
            ...whole,
            options: schema(() => {
              throw new Error('boom')
            }),
          },
        ],
      },
      'threw when asked for its JSON Schema: Error: boom',
    ],
    [
      { platforms: [{ ...whole, options: schema(() => ({ type: 'object', properties: { access: {} } })) }] },
      'takes the key "access"',
    ],
    [
      { connectors: [{ ...whole, options: schema(() => ({ type: 'object', properties: { type: {} } })) }] },
      'takes the key "type"',
    ],
    [{ platforms: [{ ...whole, defaultAccess: { dm: 'everybody' } }] }, '"defaultAccess" names no policy'],
    [{ platforms: [{ ...whole, setup: {} }] }, '"setup" lacks "questions"'],
    [{ platforms: [{ ...whole, security: [] }] }, '"security" is no function'],
    [{ platforms: [{ ...whole, emulator: {} }] }, 'platform "matrix": "emulator" is no function'],
    [{ connectors: [{ ...whole, emulator: {} }] }, 'connector "matrix": "emulator" is no function'],
    [{ platforms: [whole, whole] }, 'brings platform "matrix", which is there already'],
    [{ connectors: [{ ...whole, name: 'demo' }] }, 'brings connector "demo", which is there already'],
  ])('[I13.modules-told] %# is refused: %s', (exports, why) => {
    expect(look(exports)).toThrow(why)
  })

  it.each(['__proto__', 'constructor', 'valueOf', 'schedule', 'channel', 'Web', 'a:b', '', 'x'.repeat(33)])(
    '[I13.modules-names] %j can be no name',
    (name) => {
      expect(look({ platforms: [{ ...whole, name }] })).toThrow('can be no name')
    },
  )

  it('[I13.modules-names] what is built in, planned or taken by another module is nobody else’s', async () => {
    for (const name of ['web', 'slack']) {
      write(`as-${name}.mjs`, source(name))
      expect(await problemOf(`./as-${name}.mjs`)).toBe(`brings platform "${name}", which is there already`)
      write(`m-${name}.mjs`, source('mine'))
    }
    const { modules } = await open(['./m-web.mjs', './m-slack.mjs'])
    expect(modules.map((one) => one.problem)).toEqual([
      null,
      'brings platform "mine", which is there already',
    ])
  })

  it('members that a CommonJS package has under default are found', () => {
    expect(look({ default: { platforms: [whole] } })().platforms).toHaveLength(1)
  })
})

describe('a module that misbehaves while it is loaded', () => {
  const LATE = { loadTimeoutMs: 2_000 }

  it.each([
    ['throws', 'throw new Error("no key\\nhere")', 'threw while it was loaded: no key here'],
    ['ends the process', 'process.exit(0)', 'ended the process (code 0)'],
    ['waits for nothing', 'await new Promise(() => {})', 'waits for something that never comes'],
    ['loops', 'for (;;) {}', 'was not loaded within 2 s'],
    ['waits with a timer', 'await new Promise((r) => setTimeout(r, 1e6))', 'was not loaded within 2 s'],
  ])(
    '[I13.modules-hang] [I13.modules-told] one that %s is told, and the other is used',
    async (_, text, why) => {
      write('bad.mjs', text)
      const started = await tryModule(`file://${join(folder, 'bad.mjs')}`, LATE.loadTimeoutMs).catch(String)
      // On a machine that is too busy to start a process in time, it is only known that it was not loaded.
      expect([
        `Error: ${why} while it was loaded`,
        `Error: ${why}`,
        'Error: was not loaded within 2 s',
      ]).toContain(started)
    },
  )

  it('[I13.modules-hang] the rest of them is loaded, and one that was mended is taken at the next try', async () => {
    write('bad.mjs', 'throw new Error("boom")')
    write('good.mjs', source('good'))
    const adapters = createModuleCatalog()
    const wanted = { folder, modules: ['./bad.mjs', './good.mjs'], platforms: [], connectors: [] }
    const before = await adapters.open(wanted)
    expect(before.modules.map((one) => one.problem)).toEqual(['threw while it was loaded: boom', null])
    expect(before.platform('good')).toBeDefined()
    write('bad.mjs', source('mended'))
    expect((await adapters.open(wanted)).platform('mended')).toBeDefined()
  })

  it('[I13.modules-once] one that failed is not tried again for a catalog of the same file', async () => {
    write(
      'bad.mjs',
      `import { appendFileSync } from 'node:fs'
appendFileSync(new URL('./tries', import.meta.url), 'x')
throw new Error('boom')`,
    )
    const adapters = createModuleCatalog()
    const wanted = { folder, modules: ['./bad.mjs'], platforms: [], connectors: [] }
    const before = await adapters.open(wanted)
    const after = await adapters.open({ ...wanted, platforms: 'all' }, before)
    expect(after.modules).toEqual(before.modules)
    expect(after.platform('web')).toBeDefined()
    expect(readFileSync(join(folder, 'tries'), 'utf8')).toBe('x')
  })

  it('[I13.modules-restart] one whose file changed since is named', async () => {
    write('m.mjs', source('mine', "export const version = '1.2.3'"))
    const adapters = createModuleCatalog()
    const { modules } = await adapters.open({ folder, modules: ['./m.mjs'], platforms: [], connectors: [] })
    expect(modules[0]?.version).toBe('1.2.3')
    expect([...adapters.changed(modules)]).toEqual([])
    write('m.mjs', source('mine', '// another'))
    expect([...adapters.changed(modules)]).toEqual(['./m.mjs'])
    rmSync(join(folder, 'm.mjs'))
    expect([...adapters.changed(modules)]).toEqual(['./m.mjs'])
  })
})

describe('[I13.modules-validate] a schema that misbehaves on what the file says', () => {
  const checking = (name: string, body: string) => `
const options = { '~standard': { version: 1, vendor: 'hand', validate: (value) => { ${body} },
  jsonSchema: { input: () => ({ type: 'object', properties: {} }) } } }
export const platforms = [{ name: '${name}', options, docs: 'https://example.com', create: () => ({}) }]`
  const entries = (room: unknown) => [{ bank: 'platform' as const, name: 'matrix', options: { room } }]
  const wanted = (room: unknown) => ({
    ...{ folder, modules: ['./m.mjs', './good.mjs'], platforms: [], connectors: [] },
    entries: entries(room),
  })
  beforeEach(() => void write('good.mjs', source('good')))

  it.each([
    ['throws', 'if (value.room === 7) throw new Error("boom"); return { value }', 'threw on the options'],
    ['loops', 'while (value.room === 7); return { value }', 'within 2 s'],
    [
      'answers later',
      'return value.room === 7 ? Promise.resolve({ value }) : { value }',
      'must answer at once',
    ],
    ['answers nothing', 'return value.room === 7 ? undefined : { value }', 'answered nothing'],
    ['ends the process', 'if (value.room === 7) process.exit(3); return { value }', 'ended the process'],
  ])('that %s fails with its reason, and the rest runs', async (_, body, why) => {
    write('m.mjs', checking('matrix', body))
    const adapters = createModuleCatalog({ loadTimeoutMs: 2_000 })
    const catalog = await adapters.open(wanted(7))
    expect(catalog.modules[0]?.problem).toContain(why)
    expect(catalog.platform('matrix')).toBeUndefined()
    expect(catalog.platform('good')).toBeDefined()
    expect((await adapters.open(wanted('lobby'))).platform('matrix')).toBeDefined()
    // It was imported before. The file's present content is tried anyway.
    expect((await adapters.open(wanted(7))).modules[0]?.problem).toContain(why)
  })

  it('[I14.stored-tried] what is added by command is tried in a process of its own, too, and what was kept before stops nobody', async () => {
    write('m.mjs', checking('matrix', 'while (value.room === 7); return { value }'))
    const adapters = createModuleCatalog({ loadTimeoutMs: 2_000 })
    const kept = new Map<string, string>()
    const secrets = {
      reserved: () => [...kept.keys()],
      read: (name: string) => kept.get(name) ?? null,
      keepReserved: async (name: string, value: string | null) =>
        void (value === null ? kept.delete(name) : kept.set(name, value)),
    } as unknown as SecretStore
    const open = () =>
      openStoredIntegrations(secrets, (entry) =>
        adapters.open({ ...wanted('lobby'), platforms: [entry.name], entries: [entry] }),
      )
    const shelf = await open()
    const at = (room: unknown) => ({ id: 'm', platform: 'matrix', room })
    await expect(shelf.add(at(7), null, 'op')).rejects.toMatchObject({
      code: 'input_invalid',
      message: expect.stringContaining('did not check the options of platform "matrix" within 2 s'),
    })
    expect([kept.size, shelf.all()]).toEqual([0, []])
    const { settings } = await shelf.add(at('lobby'), null, 'op')
    expect(settings).toMatchObject({ id: 'm', options: { room: 'lobby' } })
    expect(settings.problem).toBeUndefined()
    // It was stored when its schema was different.
    kept.set('integration:m', JSON.stringify({ definition: at(7), agent: null }))
    kept.set('integration:w', JSON.stringify({ definition: { id: 'w', platform: 'web' }, agent: null }))
    const [down, up] = (await open()).all().map((one) => one.settings)
    expect(down).toMatchObject({ id: 'm', problem: expect.stringContaining('within 2 s') })
    expect(down?.access).toMatchObject({ dm: 'disabled' })
    expect(up).toMatchObject({ id: 'w' })
    expect(up?.problem).toBeUndefined()
  })

  it('what it refuses in words is no fault of the module', async () => {
    write('m.mjs', checking('matrix', 'return { issues: [{ message: "no such room" }] }'))
    expect((await createModuleCatalog().open(wanted(7))).modules[0]?.problem).toBeNull()
  })

  it('one of a library user is held to it, as far as it comes back', async () => {
    const mine = {
      name: 'matrix',
      docs: 'x',
      create: () => ({}) as never,
      options: {
        '~standard': {
          version: 1 as const,
          vendor: 'x',
          validate: () => {
            throw new Error('boom')
          },
          jsonSchema: { input: () => ({ type: 'object' }) },
        },
      },
    }
    const adapters = createModuleCatalog({ given: [{ platforms: [mine] }] })
    expect((await adapters.open({ ...wanted(7), modules: [] })).modules[0]?.problem).toContain(
      'threw on the options of platform "matrix": boom',
    )
  })
})

describe('the shelf', () => {
  it('[I13.modules-library] takes modules of a library user, held to the same rules', async () => {
    const options = {
      '~standard': {
        version: 1 as const,
        vendor: 'x',
        validate: (value: unknown) => ({ value }),
        jsonSchema: { input: () => ({ type: 'object' }) },
      },
    }
    const mine = { name: 'mine', options, docs: 'x', create: () => ({}) as never }
    const given = [{ platforms: [mine], version: '3.0.0' }, { platforms: [{ ...mine, name: 'web' }] }]
    const adapters = createModuleCatalog({ given })
    const { modules } = await adapters.open({ folder, modules: [], platforms: [], connectors: [] })
    expect(modules).toMatchObject([
      { from: 'given[0]', version: '3.0.0', platforms: ['mine'], problem: null },
      { from: 'given[1]', problem: 'brings platform "web", which is there already' },
    ])
    expect(await adapters.platform('mine', modules)).toBe(mine)
    await expect(adapters.platform('other', modules)).rejects.toThrow(
      'nobody brings platform "other": module "given[1]"',
    )
  })

  it('knows no names of Object’s own, and none that nobody brings', async () => {
    const adapters = createModuleCatalog()
    for (const name of ['constructor', '__proto__', 'nobody'])
      await expect(adapters.platform(name)).rejects.toMatchObject({ code: 'config_invalid' })
  })

  it('a command that only reads runs no code of others', async () => {
    write('m.mjs', 'throw new Error("never")')
    const { modules } = await open(['./m.mjs'], { leaveModulesAlone: true })
    expect(modules[0]?.problem).toBe('is loaded by the daemon alone')
  })
})
