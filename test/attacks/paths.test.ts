// A hundred ways to name a file that must not leave, against the very reader that `reply` uses. The table is counted: what
// is forbidden must be refused under every name, and none of the bytes may come back.
import { spawnSync } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createSendableFiles, statePlaces } from '../../src/gateway/files/sendable-files.ts'

const SECRET = 'the bytes that must not leave'
const top = realpathSync(mkdtempSync(join(tmpdir(), 'swb-paths-')))
const project = join(top, 'project')
const data = join(project, '.switchboard')
const home = join(top, 'home')
const outside = join(top, 'outside')

/** Everything that is not to be sent, by what it is. */
const FORBIDDEN = {
  configuration: join(project, 'switchboard.yaml'),
  'a secret beside it': join(project, 'bot.token'),
  'a secret elsewhere': join(top, 'run', 'secrets', 'key'),
  'the master key': join(data, 'switchboard.key'),
  'the ledger key': join(data, 'ledger.key'),
  'the admin token': join(data, 'admin.token'),
  'the database': join(data, 'switchboard.db'),
  'an ssh key': join(home, '.ssh', 'id_ed25519'),
  'a dot-file': join(home, '.netrc'),
  'a file outside': join(outside, 'notes.txt'),
} as const

const files = createSendableFiles({
  never: () => [
    ...statePlaces(data, `sqlite:${FORBIDDEN['the database']}`),
    FORBIDDEN.configuration,
    FORBIDDEN['a secret beside it'],
    FORBIDDEN['a secret elsewhere'],
  ],
  attachments: join(data, 'attachments'),
  // The home is a root on purpose: its dot-folders stay closed even then.
  roots: () => [project, home],
  home,
})

beforeAll(() => {
  for (const path of Object.values(FORBIDDEN)) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, SECRET)
  }
  mkdirSync(join(data, 'attachments', 'tg'), { recursive: true })
  writeFileSync(join(project, 'report.txt'), 'all is well')
  mkdirSync(join(project, 'links'))
})
afterAll(() => rmSync(top, { recursive: true, force: true }))

let made = 0
/** Ways to say one path. Those that make something make it anew each time. */
const FORMS: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `/${path}`,
  (path) => `///${path}`,
  (path) => path.replaceAll('/', '//'),
  (path) => path.replaceAll('/', '/./'),
  (path) => `${project}/${relative(project, path)}`,
  (path) => `${data}/attachments/tg/${relative(join(data, 'attachments', 'tg'), path)}`,
  (path) => `${project}/links/../../project/${relative(project, path)}`,
  (path) => `${path}/`,
  (path) => `${path}/.`,
  (path) => `${dirname(path)}/../${basename(dirname(path))}/${basename(path)}`,
  (path) => `${'/..'.repeat(40)}${path}`,
  (path) => `/proc/self/root${path}`,
  (path) => `/proc/${process.pid}/root${path}`,
  (path) => `/proc/thread-self/root${path}`,
  (path) => `${path}\0.png`,
  (path) => `${project}/report.txt\0${path}`,
  (path) => `file://${path}`,
  (path) => encodeURIComponent(path),
  (path) => path.replaceAll('/', '%2f'),
  (path) => `${project}/..%2f${relative(project, path)}`,
  (path) => `${project}/%2e%2e/${relative(project, path)}`,
  (path) => path.replaceAll('/', '\\'),
  (path) => `${project}\\..\\${relative(project, path)}`,
  (path) => path.replaceAll('/', '\uff0f'),
  (path) => path.replaceAll('/', '\u2215'),
  (path) => path.toUpperCase(),
  (path) => join(dirname(path), basename(path).toUpperCase()),
  (path) => `${path} `,
  (path) => `${path}.`,
  (path) => `${path}::$DATA`,
  (path) => relative(process.cwd(), path),
  (path) => `~/${relative(home, path)}`,
  (path) => `$HOME/${relative(home, path)}`,
  // A link to the file, to its folder, to a link, and one that is relative.
  (path) => link(path),
  (path) => join(link(dirname(path)), basename(path)),
  (path) => link(link(path)),
  (path) => link(relative(join(project, 'links'), path)),
  (path) => `${link(dirname(path))}/../${basename(dirname(path))}/${basename(path)}`,
  (path) => link(`/proc/self/root${path}`),
]

function link(to: string): string {
  const at = join(project, 'links', `harmless-${++made}.txt`)
  symlinkSync(to, at)
  return at
}

const tried = (path: string) =>
  files.read(path).then(
    ({ bytes }) => `SENT ${String(bytes)}`,
    (error: Error & { code?: string }) => error.code,
  )

it('[I14.attack-paths] [I14.send-never] no form of a path brings out what may not leave', async () => {
  expect(await tried(join(project, 'report.txt'))).toBe('SENT all is well')
  let attempts = 0
  for (const [what, path] of Object.entries(FORBIDDEN))
    for (const form of FORMS) {
      const said = form(path)
      expect(await tried(said), `${what}: ${JSON.stringify(said)}`).toBe('input_invalid')
      attempts += 1
    }
  expect(attempts).toBeGreaterThanOrEqual(400)
  expect(FORMS.length).toBeGreaterThanOrEqual(40)
})

it('[I14.attack-paths] hard links of the state, the configuration and its secrets are those files', async () => {
  // What is not listed as a file of its own (a home, a folder outside) cannot be told by a hard link of it.
  const named = Object.entries(FORBIDDEN).filter(
    ([, path]) => path.startsWith(project) || path.includes('/run/'),
  )
  expect(named).toHaveLength(7)
  for (const [what, path] of named) {
    const at = join(project, 'links', `hard-${++made}.txt`)
    linkSync(path, at)
    expect(await tried(at), what).toBe('input_invalid')
  }
})

it('[I14.attack-paths] devices, pipes, folders and the kernel are no files, and hold nobody up', async () => {
  const fifo = join(project, 'pipe')
  spawnSync('mkfifo', [fifo])
  const kernel = [
    'environ',
    'cmdline',
    'maps',
    'mem',
    'fd/0',
    'fd/1',
    'cwd/package.json',
    'exe',
    'status',
    'task',
  ]
  const paths = [
    ...[
      fifo,
      project,
      data,
      home,
      '/',
      '/.',
      '/..',
      '',
      ' ',
      '.',
      '..',
      '\0',
      '-',
      '/dev/stdin',
      '/dev/fd/0',
    ],
    ...['/dev/null', '/dev/zero', '/dev/random', '/dev/tty', '/dev/stdout', '/dev/mem', '/dev/shm'],
    ...kernel.flatMap((name) => [
      `/proc/self/${name}`,
      `/proc/${process.pid}/${name}`,
      link(`/proc/self/${name}`),
    ]),
    ...['/sys/kernel/notes', '/etc/passwd', '/etc/shadow', '/etc/hostname', `${'a/'.repeat(5_000)}x`],
    `/${'x'.repeat(300)}`,
    `${project}/${'../'.repeat(2_000)}etc/passwd`,
  ]
  for (const path of paths) expect(await tried(path), JSON.stringify(path.slice(0, 80))).toBe('input_invalid')
})
