// Options whose schema somebody else wrote, in no library that we know: told with line and column, masked and kept like
// those of our own adapters, and never a crash.
import { describe, expect, it } from 'vitest'
import type { LoadedAdapters, OptionsSchema, PlatformModule } from '../contract/index.ts'
import { BOOK, loadText } from './fixtures/load-text.ts'
import { renderProblems } from './problem.ts'
import { configurationJsonSchema } from './schema/json-schema.ts'
import { readStoredIntegration, recallStoredIntegration } from './stored-integration.ts'

type Validate = OptionsSchema['~standard']['validate']
const PROPERTIES = {
  token: { type: 'string', 'x-secret': true },
  room: { $ref: '#/$defs/room' },
}

function matrix(validate: Validate, more: Partial<PlatformModule> = {}): LoadedAdapters {
  const module: PlatformModule = {
    name: 'matrix',
    docs: 'x',
    options: {
      '~standard': {
        version: 1,
        vendor: 'hand',
        validate,
        jsonSchema: {
          input: () => ({ type: 'object', properties: PROPERTIES, $defs: { room: { type: 'string' } } }),
        },
      },
    },
    create: () => ({}) as never,
    ...more,
  }
  return {
    ...BOOK,
    platform: (name) => (name === 'matrix' ? module : BOOK.platform(name)),
    platformNames: [...BOOK.platformNames, 'matrix'],
  }
}

const taken = matrix((value) => ({ value }))
const FILE = 'integrations:\n  - id: m\n    platform: matrix\n    token: env:T\n    room: lobby\n'
const load = (catalog: LoadedAdapters, text = FILE) => loadText(text, {}, catalog)
const problems = (catalog: LoadedAdapters, text = FILE) => {
  const result = load(catalog, text)
  return result.ok ? '' : renderProblems('switchboard.yaml', result.problems)
}
const first = (catalog: LoadedAdapters, text = FILE) => {
  const result = load(catalog, text)
  if (!result.ok) throw new Error(problems(catalog, text))
  return result.settings.integrations[0]
}

describe('[I13.one-schema] options by a schema of somebody else', () => {
  it('what it gives is what the adapter finds', () => {
    const catalog = matrix((value) => ({ value: { ...(value as object), added: 1 } }))
    expect(first(catalog)?.options).toEqual({ token: 'env:T', room: 'lobby', added: 1 })
  })

  it('its words are told with line and column', () => {
    const catalog = matrix(() => ({ issues: [{ message: 'no such room', path: [{ key: 'room' }] }] }))
    expect(problems(catalog)).toContain('switchboard.yaml:5:11 room: no such room')
  })

  it('[I13.modules-schema] one that throws, answers later or answers nonsense is a problem of its entry', () => {
    const boom = () => {
      throw new Error('boom\u0000\nsecond line')
    }
    expect(problems(matrix(boom))).toContain('"options" of its module threw: Error: boom second line')
    expect(problems(matrix(async (value) => ({ value })))).toContain('answered with a promise')
    expect(problems(matrix(async () => Promise.reject(new Error('x'))))).toContain('answered with a promise')
    for (const nonsense of [undefined, null, 7, 'x', []])
      expect(problems(matrix(() => nonsense as never))).toContain('answered nothing')
    for (const value of [undefined, null, 7, []])
      expect(problems(matrix(() => ({ value })))).toContain('gave no map of keys')
    expect(problems(matrix(() => ({ issues: [] })))).toContain('refused it without a reason')
    const fake = matrix(() => ({ issues: [{ code: 'unrecognized_keys', message: 'm' } as never] }))
    const vendor = fake.platform('matrix')?.options['~standard'] as { vendor: string }
    vendor.vendor = 'zod'
    expect(problems(fake)).toContain(': m')
  })

  it('[I13.modules-secrets] a secret is a reference, and one written in place is refused and masked', () => {
    const wrong = FILE.replace('env:T', 'hunter2-secret')
    expect(problems(taken, wrong)).toContain('4:12 token: a secret is never written here')
    expect(problems(taken, wrong)).not.toContain('hunter2')
    expect(problems(taken, `${FILE}    id: other\n    token: hunter2\n`)).not.toContain('hunter2')
    expect(first(taken)?.options.token).toBe('env:T')
  })

  it('[I13.default-access] one that says nothing of access lets in only who is listed', () => {
    expect(first(taken)?.access).toMatchObject({ readable: true, dm: 'allowlist', allowFrom: [] })
    const says = (defaultAccess: PlatformModule['defaultAccess']) =>
      first(matrix((value) => ({ value }), { ...(defaultAccess ? { defaultAccess } : {}) }))?.access
    expect(says({ dm: 'pairing', approvers: ['kate'] })).toMatchObject({ dm: 'pairing', approvers: ['kate'] })
    expect(says((options) => ({ dm: options.room === 'lobby' ? 'credential' : 'pairing' }))).toMatchObject({
      dm: 'credential',
    })
    expect(says(() => ({ dm: 'everybody' }) as never)).toMatchObject({ dm: 'disabled' })
    expect(
      says(() => {
        throw new Error('x')
      }),
    ).toMatchObject({ dm: 'disabled' })
  })

  it('its definitions keep apart from those of others in the JSON Schema', () => {
    const schema = configurationJsonSchema(taken) as { $defs: object; properties: { integrations: unknown } }
    expect(schema.$defs).toEqual({ 'platform.matrix.room': { type: 'string' } })
    expect(JSON.stringify(schema.properties.integrations)).toContain('#/$defs/platform.matrix.room')
  })
})

describe('a module that failed', () => {
  const failed: LoadedAdapters = {
    ...BOOK,
    modules: [
      {
        from: './matrix.mjs',
        file: null,
        version: null,
        platforms: [],
        connectors: [],
        problem: 'is not there',
      },
    ],
  }
  const text = `modules: [./matrix.mjs]\n${FILE}agents: [{ id: a, connector: { type: parrot } }]\n`

  it('[I13.modules-check] is a problem with its place', () => {
    expect(problems(failed, text)).toContain('switchboard.yaml:1:11 module "./matrix.mjs" is not there')
  })

  it('[I13.modules-down] what needs it is loaded with nobody let in, and told', async () => {
    const { parseSettings } = await import('./load.ts')
    const result = await parseSettings(text, '/etc/sb/switchboard.yaml', {
      adapters: { open: async () => failed },
      failedModules: 'down',
      defaultStore: 'sqlite:/d',
      readFile: () => Buffer.from(''),
    })
    if (!result.ok) throw new Error(JSON.stringify(result.problems))
    expect(result.settings.integrations[0]).toMatchObject({
      platform: 'matrix',
      access: { dm: 'disabled' },
      options: { room: 'lobby' },
    })
    expect(result.settings.modules).toEqual(failed.modules)
    expect(result.warnings).toContain('modules[0]: module "./matrix.mjs" is not there')
  })

  it('a known platform is still held to its own schema', () => {
    const wrong = 'modules: [./matrix.mjs]\nintegrations: [{ id: w, platform: web, tokn: 1 }]\n'
    expect(problems(failed, wrong)).toContain('unknown key "tokn"')
  })

  it('an integration that was added by command is down with its platform, and stops nobody', () => {
    const definition = { id: 'm', platform: 'matrix', token: 'env:T' }
    expect(() => readStoredIntegration(definition, BOOK)).toThrow('unknown platform "matrix"')
    expect(readStoredIntegration(definition, taken).options).toEqual({ token: 'env:T' })
    expect(recallStoredIntegration(definition, BOOK)).toMatchObject({
      id: 'm',
      access: { dm: 'disabled' },
      options: { token: 'env:T' },
    })
  })
})

describe('names', () => {
  it.each(['__proto__', 'constructor', 'toString', 'mcp'])(
    '[I13.modules-names] platform %s is none',
    (name) => {
      const text = `integrations:\n  - id: m\n    platform: "${name}"\n`
      expect(problems(BOOK, text)).toMatch(/unknown platform|no integration of its own/)
      expect(problems(BOOK, `agents: [{ id: a, connector: { type: "${name}" } }]`)).toContain(
        'unknown connector',
      )
    },
  )
})
