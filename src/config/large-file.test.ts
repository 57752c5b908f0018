// A large configuration: what it costs to check grows with its size, and other work goes on while it is read.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createModuleCatalog } from '../modules/module-catalog.ts'
import { bindings, overlaps, unheard } from './check-bindings.ts'
import { digestOf, digestSteps } from './digest.ts'
import { parseSettings } from './load.ts'
import type { Config } from './schema/index.ts'
import { readYaml, readYamlInSlices } from './yaml/yaml-text.ts'

/** How often an entry of the list of integrations is looked at, and what is wrong. */
function checked(many: number, { named }: { readonly named: boolean }) {
  let looks = 0
  const wrong: string[] = []
  const integrations = Array.from({ length: many }, (_, at) => ({
    id: `h${at}`,
    platform: `p${at}`,
    enabled: true,
  }))
  const counted = new Proxy(integrations, {
    get(target, key, self) {
      if (typeof key === 'string' && /^\d+$/.test(key)) looks += 1
      return Reflect.get(target, key, self)
    },
  })
  const agents = integrations.map(({ id, platform }) => ({
    inbound_bindings: [{ plugin: platform, ...(named ? { instance: id } : {}), allowed_channel_servers: [] }],
  }))
  const config = { integrations: counted, agents, mcp_servers: {} } as unknown as Config
  const tell = (_path: unknown, message: string) => wrong.push(message)
  bindings(config, tell, wrong)
  overlaps(config, tell)
  unheard(config, wrong)
  return { looks, wrong }
}

describe('a large configuration', () => {
  it.each([true, false])(
    '[I23.reload-slices] twice as many bindings are twice the work (named: %s)',
    (named) => {
      const few = checked(200, { named })
      const many = checked(400, { named })
      expect(few.wrong).toEqual([])
      expect(many.wrong).toEqual([])
      expect(many.looks).toBeLessThanOrEqual(2 * few.looks)
    },
  )

  it.each([
    [['-1', '-1'], '"-1" and "-1"'],
    [['-1', '-1/42'], '"-1/42" and "-1"'],
    [['-1/42', '-1'], '"-1" and "-1/42"'],
    [['a/b/c', 'a'], '"a" and "a/b/c"'],
    [['-1', '-12', '*/x', '-2/1', '-2/2'], null],
  ])('bindings on %j overlap: %s', (conversations, told) => {
    const wrong: string[] = []
    const agents = conversations.map((text) => ({
      inbound_bindings: [{ plugin: 'p', instance: 'i', conversations: [text], allowed_channel_servers: [] }],
    }))
    const config = {
      integrations: [{ id: 'i', platform: 'p' }],
      agents,
      mcp_servers: {},
    } as unknown as Config
    overlaps(config, (_path, message) => wrong.push(message))
    expect(wrong).toHaveLength(told === null ? 0 : 1)
    expect(wrong[0] ?? '').toContain(told ?? '')
  })

  it('[I23.reload-slices] something else runs between reading the text and checking it', async () => {
    const order: string[] = []
    const adapters = {
      open: async () => {
        order.push('checked')
        throw new Error('far enough')
      },
    }
    setImmediate(() => order.push('other work'))
    const deps = {
      adapters,
      failedModules: 'down',
      defaultStore: 'sqlite:x',
      readFile: () => Buffer.alloc(0),
    }
    const loading = parseSettings('integrations: []\n', '/tmp/switchboard.yaml', deps as never)
    await expect(loading).rejects.toThrow('far enough')
    expect(order).toEqual(['other work', 'checked'])
  })

  it('[I23.reload-slices] a large text is read in many parts, to the same end', async () => {
    const text = `a:\n${Array.from({ length: 5_000 }, (_, at) => `  - { id: "n${at}", many: [1, 2, ${at}] }`).join('\n')}\n`
    let pauses = 0
    const sliced = await readYamlInSlices(text, async () => {
      pauses += 1
    })
    expect(pauses).toBeGreaterThan(20)
    expect(sliced.problems).toEqual([])
    expect(sliced.value).toEqual(readYaml(text).value)
    expect(sliced.locateKey(['a', 4_999, 'many'])).toEqual({ line: 5_001, column: 20 })
    expect(sliced.value).toMatchObject({ a: { 4999: { id: 'n4999', many: [1, 2, 4_999] } } })
  })

  it('[I23.reload-slices] entries of a long list are told as they stand in the whole file', async () => {
    const lines = Array.from({ length: 450 }, (_, at) => `  - { id: n${at} }`)
    lines[3] = '  - &first { id: three, many: [1, { two: 2 }] }'
    lines[250] = '  - *first'
    lines[320] = '  - { id: a, id: b }'
    lines[430] = '  - !own { id: c }'
    const sliced = await readYamlInSlices(
      `# first line\na:\n${lines.join('\n')}\nb: last\n`,
      async () => undefined,
    )
    const value = sliced.value as { readonly a: readonly unknown[]; readonly b: string }
    expect(value.a).toHaveLength(450)
    expect(value.a[250]).toEqual({ id: 'three', many: [1, { two: 2 }] })
    expect(value.a[449]).toEqual({ id: 'n449' })
    expect(value.b).toBe('last')
    expect(sliced.problems.map(({ line, message }) => [line, message.split(':')[0]])).toEqual([
      [433, 'tags (!…) are not used here'],
      [323, 'duplicate key "id"'],
    ])
    expect(sliced.locateKey(['a', 449, 'id'])).toEqual({ line: 452, column: 7 })
    expect(sliced.locateValue(['b'])).toEqual({ line: 453, column: 4 })
  })

  const deps = {
    adapters: createModuleCatalog({}),
    failedModules: 'down' as const,
    defaultStore: 'sqlite:x',
    readFile: () => {
      throw Object.assign(new Error('none'), { code: 'ENOENT' })
    },
  }

  it('[I23.reload-slices] a long list is checked in lots, and comes out whole; what is wrong in one is told by its line', async () => {
    const names = (prefix: string) => Array.from({ length: 250 }, (_, at) => `${prefix}${at}`)
    const text = [
      ...['integrations:', ...names('h').map((id) => `  - { id: ${id}, platform: web }`)],
      ...['agents:', ...names('a').map((id) => `  - { id: ${id}, connector: { type: demo } }`), ''],
    ].join('\n')
    const loaded = await parseSettings(text, '/tmp/switchboard.yaml', deps)
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
    expect(loaded.settings.integrations.map(({ id }) => id)).toEqual(names('h'))
    expect(loaded.settings.agents.map(({ id }) => id)).toEqual(names('a'))
    const nonsense = `${text}  - { id: a250, connector: { type: demo }, nonsense: 1 }\n`
    const wrong = await parseSettings(nonsense, '/tmp/switchboard.yaml', deps)
    expect(wrong).toMatchObject({ ok: false, problems: [{ line: 503 }] })
  })

  it('[I23.reload-slices] every step over a long list gives way: reading, checking, and what comes out of it', async () => {
    const turnsOf = async (many: number) => {
      const entries = Array.from({ length: many }, (_, at) => `  - { id: a${at}, connector: { type: demo } }`)
      let turns = 0
      let over = false
      const count = () => {
        turns += 1
        if (!over) setImmediate(count)
      }
      count()
      const loaded = await parseSettings(`agents:\n${entries.join('\n')}\n`, '/tmp/switchboard.yaml', deps)
      over = true
      return { turns, ok: loaded.ok }
    }
    // Whatever is loaded but once is loaded by now.
    expect(await turnsOf(1)).toMatchObject({ ok: true })
    const [few, many] = [await turnsOf(1), await turnsOf(1_001)]
    expect(many.ok).toBe(true)
    // Ten lots each: composed, converted, checked, digested; and the words of the text.
    expect(many.turns - few.turns).toBeGreaterThanOrEqual(50)
  })

  it('[I23.reload-slices] the digest of a large configuration is the one that it has in one go', () => {
    const list = Array.from({ length: 250 }, (_, at) => ({
      id: `n${at}`,
      none: undefined,
      deep: { b: [1], a: null },
    }))
    const all: readonly Readonly<Record<string, unknown>>[] = [
      { agents: list, z: 1, gone: undefined, a: { c: 1, b: [2, undefined] }, empty: [] },
      { agents: list.slice(0, 100) },
      { first: undefined },
      {},
    ]
    for (const data of all) {
      const steps = digestSteps(data)
      let pauses = 0
      let step = steps.next()
      for (; !step.done; step = steps.next()) pauses += 1
      expect(step.value).toBe(digestOf(data))
      expect(pauses).toBe(Math.floor(((data.agents as unknown[] | undefined)?.length ?? 0) / 100))
    }
  })

  it('[I23.config-limit] the limit stands in the guide', () => {
    const guide = readFileSync(new URL('../../docs/guide/configuration.md', import.meta.url), 'utf8')
    expect(guide).toMatch(/A file may have 1 MiB/)
  })
})
