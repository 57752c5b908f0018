// The house re-derived from what is really written: rooms and doors, who may do what, and the order in every folder.
import { describe, expect, it } from 'vitest'
import { CORE_DOORS, DOORS, isExcepted, NO_PACKAGES, RULES, type Rule } from './house/doors.ts'
import { exists, filesOf, foldersOf, parse, read, type Source, source } from './house/source.ts'

const isTest = (file: string) => file.endsWith('.test.ts')
const isTypeScript = (file: string) => /\.tsx?$/.test(file) && !file.includes('/fixtures/')
const roomOf = (file: string) => file.split('/')[1] ?? ''

const src = filesOf('src').filter(isTypeScript).map(source)
const code = src.filter(({ file }) => !isTest(file))

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}
const manifest: Manifest = JSON.parse(read('package.json'))

const packageOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
const isPackage = (specifier: string) => !specifier.startsWith('.') && !specifier.startsWith('node:')

describe('[I2.house] rooms and doors', () => {
  it('every folder of src/ is a room of the table', () => {
    const rooms = new Set(src.map(({ file }) => roomOf(file)))
    expect([...rooms].filter((room) => DOORS[room] === undefined)).toEqual([])
  })

  for (const [room, doors] of Object.entries(DOORS)) {
    if (doors === '*') continue
    it(`${room} opens only ${doors.join(', ') || 'nothing'}`, () => {
      const wrong = code
        .filter(({ file }) => roomOf(file) === room)
        .flatMap(({ file, imports }) =>
          imports.flatMap((each) => {
            if (each.file === null) return []
            const to = roomOf(each.file)
            const allowed = each.file.startsWith('src/') && (to === room || doors.includes(to))
            return allowed ? [] : [`${file} → ${each.from}`]
          }),
        )
      expect(wrong).toEqual([])
    })
  }

  describe('of the folders of core', () => {
    const FILES = '.'
    /** The folder of core that a file is in, FILES for one beside the folders, undefined elsewhere. */
    const folderOf = (file: string) => {
      const [, room, folder = '', ...rest] = file.split('/')
      if (room !== 'core') return undefined
      return rest.length === 0 ? FILES : folder
    }
    const passed = code.flatMap(({ file, imports }) => {
      const from = folderOf(file)
      return imports.flatMap((each) => {
        const to = each.file?.startsWith('src/') ? folderOf(each.file) : undefined
        if (from === undefined || to === undefined || to === from || to === FILES) return []
        return [{ from, to, where: `${file} → ${each.from}` }]
      })
    })

    it('[I36.core-order] each imports only what its row names', () => {
      const wrong = passed.filter(({ from, to }) => !CORE_DOORS[from]?.includes(to))
      expect(wrong.map(({ where }) => where)).toEqual([])
    })

    it('a row names only rows above it, and nothing that its folder does without', () => {
      const rows = Object.keys(CORE_DOORS)
      const wrong = Object.entries(CORE_DOORS).flatMap(([from, doors], at) =>
        doors
          .filter(
            (to) =>
              !rows.slice(0, at).includes(to) || !passed.some((one) => one.from === from && one.to === to),
          )
          .map((to) => `${from} → ${to}`),
      )
      expect(wrong).toEqual([])
      const folders = new Set(code.map(({ file }) => folderOf(file)).filter((folder) => folder !== undefined))
      expect([...folders].toSorted()).toEqual([FILES, ...rows].toSorted())
    })
  })

  for (const bank of ['platforms', 'agents']) {
    it(`no folder of ${bank} opens its neighbour`, () => {
      const wrong = code
        .filter(({ file }) => roomOf(file) === bank)
        .flatMap(({ file, imports }) =>
          imports
            .filter((each) => each.file !== null && roomOf(each.file) === bank)
            .filter((each) => each.file?.split('/')[2] !== file.split('/')[2])
            .map((each) => `${file} → ${each.from}`),
        )
      expect(wrong).toEqual([])
    })
  }

  it('every relative import names a file that exists, with its ending', () => {
    const wrong = src.flatMap(({ file, imports }) =>
      imports
        .filter((each) => each.file !== null && !exists(each.file))
        .map((each) => `${file} → ${each.from}`),
    )
    expect(wrong).toEqual([])
  })

  it(`${NO_PACKAGES.join(' and ')} load no package`, () => {
    const wrong = code
      .filter(({ file }) => NO_PACKAGES.includes(roomOf(file)))
      .flatMap(({ file, imports }) =>
        imports.filter(({ from }) => isPackage(from)).map(({ from }) => `${file} → ${from}`),
      )
    expect(wrong).toEqual([])
  })

  it('built-in modules are written with node:', () => {
    const bare = /^(fs|path|net|http|https|crypto|os|url|util|events|stream|child_process)(\/|$)/
    const wrong = src.flatMap(({ file, imports }) =>
      imports.filter(({ from }) => bare.test(from)).map(({ from }) => `${file} → ${from}`),
    )
    expect(wrong).toEqual([])
  })
})

describe('[I2.house] who may do what', () => {
  for (const rule of RULES) {
    const looked = code.filter(
      ({ file }) => rule.within === undefined || rule.within.some((folder) => file.startsWith(folder)),
    )
    const broken = (one: Source) => breaches(rule, one).map((where) => `${one.file}${where}`)
    it(rule.name, () => {
      expect(looked.filter(({ file }) => !isExcepted(file, rule.except)).flatMap(broken)).toEqual([])
    })
    it(`no exception is there for nothing: ${rule.name}`, () => {
      const excepted = looked.filter(({ file }) => isExcepted(file, rule.except))
      const idle = Object.keys(rule.except).filter(
        (path) => !excepted.some((one) => isExcepted(one.file, { [path]: '' }) && broken(one).length > 0),
      )
      expect(idle).toEqual([])
    })
  }

  it('nothing silences the compiler', () => {
    const pragma = /@ts-(ignore|nocheck)/
    expect(src.filter(({ text }) => pragma.test(text)).map(({ file }) => file)).toEqual([])
    const expected = code.filter(({ text }) => text.includes('@ts-expect-error'))
    expect(expected.map(({ file }) => file)).toEqual([])
  })
})

function breaches(rule: Rule, { code: left, strings, imports }: Source): readonly string[] {
  const lines = rule.code === undefined ? [] : linesWith(rule.code, left)
  return [
    ...lines.map((line) => `:${line}`),
    ...strings.filter((each) => rule.string?.test(each)).map((each) => `: "${each.slice(0, 60)}"`),
    ...imports.filter(({ from }) => rule.imports?.test(from)).map(({ from }) => ` → ${from}`),
  ]
}

function linesWith(expression: RegExp, text: string): readonly number[] {
  return text.split('\n').flatMap((line, at) => (expression.test(line) ? [at + 1] : []))
}

describe('[I2.house] files', () => {
  const written = ['src', 'test', 'bench', 'examples', 'web', 'scripts']
    .flatMap(filesOf)
    .filter((file) => /\.(ts|tsx|mjs)$/.test(file) && !file.includes('/fixtures/'))

  it('begin with a comment that says what they are', () => {
    const silent = written.filter((file) => {
      const [first = '', second = ''] = read(file).split('\n')
      return !/^\s*\/[/*]+\s*\S/.test(first.startsWith('#!') ? second : first)
    })
    expect(silent).toEqual([])
  })

  it('skip no test without a written reason: context.skip(why), which the test run prints', () => {
    const silent = /\b(it|test|describe)\.(skip|skipIf|runIf|todo|only)\b/
    const tests = written.filter(isTest).map(source)
    expect(
      tests.flatMap(({ file, code: text }) => linesWith(silent, text).map((line) => `${file}:${line}`)),
    ).toEqual([])
  })

  it('have kebab-case names', () => {
    const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|process|steps|config|suite|d))*\.[a-z]+$/
    const names = written.map((file) => ({ file, name: file.split('/').at(-1) ?? '' }))
    expect(names.filter(({ name }) => !kebab.test(name)).map(({ file }) => file)).toEqual([])
  })
})

describe('[I2.house] [S7.suite] [I13.suite-ran] adapters', () => {
  const registry = exists('src/modules/registry.ts') ? source('src/modules/registry.ts') : null
  const registered = (folder: string) =>
    registry === null || registry.imports.some((each) => each.file?.startsWith(`${folder}/`))
  /** A test of the folder calls the suite, at its top or in a `describe`. */
  const runsSuite = (folder: string, suite: string) =>
    src.some(
      ({ file }) =>
        isTest(file) &&
        file.startsWith(`${folder}/`) &&
        new RegExp(`^ {0,4}${suite}\\(`, 'm').test(read(file)),
    )

  for (const name of foldersOf('src/platforms')) {
    const folder = `src/platforms/${name}`
    it(`platform ${name} is whole: fixtures, suite, page, row in the registry`, () => {
      expect(filesOf(`${folder}/fixtures`).length, `${folder}/fixtures/ holds real payloads`).toBeGreaterThan(
        0,
      )
      expect(runsSuite(folder, 'describePlatform'), `${folder} runs the suite`).toBe(true)
      expect(exists(`docs/platforms/${name}.md`), `docs/platforms/${name}.md`).toBe(true)
      expect(registered(folder), 'a row in src/modules/registry.ts').toBe(true)
    })
  }

  for (const name of foldersOf('src/agents')) {
    const folder = `src/agents/${name}`
    it(`connector ${name} is whole: suite, page, row in the registry`, () => {
      expect(runsSuite(folder, 'describeConnectorSuite'), `${folder} runs the suite`).toBe(true)
      expect(exists(`docs/agents/${name}.md`), `docs/agents/${name}.md`).toBe(true)
      expect(registered(folder), 'a row in src/modules/registry.ts').toBe(true)
    })
  }

  for (const name of ['sqlite', 'postgres']) {
    it(`store ${name} runs the suite`, () => {
      const folder = `src/store/${name}`
      expect(runsSuite(folder, 'describeStore')).toBe(true)
    })
  }
})

describe('[I2.house] documents', () => {
  const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']
    .filter(exists)
    .concat(filesOf('docs').filter((file) => file.endsWith('.md')))

  it('name only paths that exist', () => {
    const path = /`((?:src|test|docs|web|bench|scripts|examples|\.ci)\/[^`\s]*)`/g
    const placeholder = /[<>{}…]|\b(NAME|ID|X)\b/
    const wrong = pages.flatMap((page) =>
      [...read(page).matchAll(path)]
        .map(([, named = '']) => named.replace(/[#:].*$/, ''))
        .filter((named) => !placeholder.test(named))
        .filter((named) => !exists(named.replace(/\*.*$/, '')))
        .map((named) => `${page}: ${named}`),
    )
    expect(wrong).toEqual([])
  })

  it('link only to pages that exist', () => {
    const link = /\]\((?!https?:|mailto:|#)([^)\s#]+)[^)]*\)/g
    const wrong = pages.flatMap((page) =>
      [...read(page).matchAll(link)]
        .map(([, to = '']) => new URL(to, `file:///${page}`).pathname.slice(1))
        .filter((to) => !exists(decodeURIComponent(to)))
        .map((to) => `${page} → ${to}`),
    )
    expect(wrong).toEqual([])
  })

  it('every decision has a number of its own, in its file and its title', () => {
    const numbers = filesOf('docs/decisions').map((file) => [
      Number(file.split('/').at(-1)?.slice(0, 4)),
      Number(/^# (\d+)\./.exec(read(file))?.[1]),
    ])
    expect(numbers).toEqual(numbers.map((_, at) => [at + 1, at + 1]))
  })

  it('every dependency has its reason in docs/decisions/', () => {
    const decisions = filesOf('docs/decisions').map(read).join('\n')
    const named = { ...manifest.dependencies, ...manifest.devDependencies }
    expect(Object.keys(named).filter((name) => !decisions.includes(`\`${name}\``))).toEqual([])
  })
})

describe('[I2.house] packages', () => {
  it('what src/ loads at run time is a dependency', () => {
    const wrong = code
      .filter(({ file }) => roomOf(file) !== 'testing')
      .flatMap(({ file, imports }) =>
        imports
          .filter(({ from, typeOnly }) => isPackage(from) && !typeOnly)
          .filter(({ from }) => manifest.dependencies[packageOf(from)] === undefined)
          .map(({ from }) => `${file} → ${from}`),
      )
    expect(wrong).toEqual([])
  })

  it('every dependency is loaded by src/', () => {
    const loaded = new Set(src.flatMap(({ imports }) => imports.map(({ from }) => packageOf(from))))
    expect(Object.keys(manifest.dependencies).filter((name) => !loaded.has(name))).toEqual([])
  })
})

describe('[I2.house] the repository', () => {
  // Written in pieces, so that this file does not hold what it looks for.
  const forbidden = [
    ['a path of one machine', new RegExp(`(^|[\\s"'\`(=:])/(${['work', 'root'].join('|')})/`, 'm')],
    ['the host of a package registry', new RegExp(['registry', 'npmjs', 'org'].join('\\.'))],
    ['a private registry', new RegExp(`"resolved": "https?://(?!${['registry', 'npmjs'].join('\\.')})`)],
    [
      'a trace of the tool that wrote it',
      new RegExp(['Co-Authored', 'By: (Claude|GPT|Copilot)'].join('-'), 'i'),
    ],
    ['a trace of the tool that wrote it', new RegExp(['generated', 'with', '\\[?claude'].join('\\s+'), 'i')],
    ['a link to a private conversation', new RegExp(`${['claude', 'ai'].join('\\.')}/(code|chat|share)/`)],
    ['a private key', new RegExp(['-----BEGIN', '(RSA |EC )?PRIVATE KEY-----'].join(' '))],
  ] as const

  it('holds none of what has no place in it', () => {
    const text = /\.(ts|tsx|mjs|js|json|md|ya?ml|html|css|sh|svg|txt)$|^\.ci\/run$|^\.npmrc$/
    const wrong = filesOf('.')
      .filter((file) => text.test(file))
      .flatMap((file) => {
        const content = read(file)
        return forbidden.filter(([, what]) => what.test(content)).map(([name]) => `${file}: ${name}`)
      })
    expect(wrong).toEqual([])
  })
})

describe('the scanner of the house', () => {
  it('finds imports of every form and resolves them', () => {
    const text = [
      `import { a } from '../contract/index.ts'`,
      `import type { B } from './b.ts'`,
      `export * from './c.ts'`,
      `export {\n  d,\n} from '../kit/d.ts'`,
      `import 'side-effect'`,
      `const e = await import('../store/e.ts')`,
      `// import { f } from '../app/f.ts'`,
      'const g = `import h from "./h.ts"`',
    ].join('\n')
    expect(parse('src/core/x.ts', text).imports.map((each) => each.file ?? each.from)).toEqual([
      'src/contract/index.ts',
      'src/core/b.ts',
      'src/core/c.ts',
      'src/kit/d.ts',
      'side-effect',
      'src/store/e.ts',
    ])
  })

  it('tells code from comments, strings, templates and expressions', () => {
    const text = [
      `const a = 'Date.now()' // Date.now()`,
      'const b = `x @{Date.now()} Date.now()`'.replace('@', '$'),
      'const c = /Date.now()"/.test(a) /* Date.now() */',
      `const d = 4 / 2 / 1, e = "Date.now()"`,
    ].join('\n')
    const { code: left, strings, patterns } = parse('x.ts', text)
    expect(linesWith(/Date\.now/, left)).toEqual([2])
    expect(left.match(/Date\.now/g)).toHaveLength(1)
    expect(strings).toContain('Date.now()')
    expect([strings.includes('Date.now()"'), patterns]).toEqual([true, ['Date.now()"']])
  })

  it.each([
    ['no any', 'const a: any = 1', true],
    ['no any', 'const a = b as any', true],
    ['no any', 'const a: Record<string, any> = {}', true],
    ['no any', 'const a = { any: 1 }', false],
    ['no any', 'Promise.any(all)', false],
    ['no classes but errors', 'export class SwitchboardError extends Error {}', false],
    ['no classes but errors', 'class Manager {}', true],
    ['only kit fetches foreign URLs', 'await fetch(url)', true],
    ['only kit fetches foreign URLs', 'adapter.fetch(url)', false],
    ['only kit fetches foreign URLs', 'guardedFetch(url)', false],
  ])('rule "%s" on %s: %s', (name, line, caught) => {
    const rule = RULES.find((each) => each.name === name)
    expect(rule && breaches(rule, parse('x.ts', line)).length > 0).toBe(caught)
  })
})
