// The data folder: where a daemon keeps everything, with every file name in one place.
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { SwitchboardError } from '../../contract/index.ts'
import { createPrivate, isForeign, keepPrivate, readPrivate } from '../secrets/private-file.ts'
import { homeFolder, locateInstance } from './instance.ts'
import { shellWord } from './shell-word.ts'

export interface DataFolder {
  readonly path: string
  readonly database: string
  /** `sqlite:` and the database: what the configuration's `store` defaults to. */
  readonly defaultStore: string
  /** The running daemon's note about itself: pid, port, version. */
  readonly daemonFile: string
  /** It exists while a daemon starts: its pid, and the file that it runs. */
  readonly startingFile: string
  /** Where the last daemon listened, and how it ended. */
  readonly lastLifeFile: string
  /** The configuration files that its daemons ran, and since when. */
  readonly startsFile: string
  readonly lockFile: string
  /** The control socket. Under the OS's temporary folder when the path would be too long for a socket. */
  readonly socket: string
  /** Where shims attach, beside the control socket. */
  readonly attachSocket: string
  /** The log of a daemon that a shim started. */
  readonly logFile: string
  readonly keyFile: string
  readonly ledgerKeyFile: string
  readonly adminTokenFile: string
  readonly attachments: string
  /** It exists while the folder is moved beside a file, so that no daemon starts on half of it. */
  readonly adoptionFile: string
}

export interface DataFolderConfig {
  /** Absent: SWITCHBOARD_DATA, else beside the file, else ~/.switchboard. */
  readonly data?: string | undefined
  /** The configuration in force; absent or null: the embedded default. */
  readonly config?: string | null
  readonly env: Readonly<Record<string, string | undefined>>
}

// 108 bytes on Linux, 104 on macOS, the closing zero included.
const SOCKET_PATH_MAX = 103

/** Computes the names. It touches no file. */
export function dataFolderAt({ data, config, env }: DataFolderConfig): DataFolder {
  const path = data === undefined ? usualFolder(config ?? null, env) : resolve(data)
  const database = join(path, 'switchboard.db')
  return {
    path,
    database,
    defaultStore: `sqlite:${database}`,
    daemonFile: join(path, 'daemon.json'),
    startingFile: join(path, 'starting.json'),
    lastLifeFile: join(path, 'last-life.json'),
    startsFile: join(path, 'starts.json'),
    lockFile: join(path, 'switchboard.lock'),
    socket: socketPath(path, env),
    attachSocket: join(dirname(socketPath(path, env)), 'a.sock'),
    logFile: join(path, 'daemon.log'),
    keyFile: join(path, 'switchboard.key'),
    ledgerKeyFile: join(path, 'ledger.key'),
    adminTokenFile: join(path, 'admin.token'),
    attachments: join(path, 'attachments'),
    adoptionFile: join(path, 'adopting.json'),
  }
}

/** Makes the folders (0700). Throws `config_invalid` when they cannot be made or belong to somebody else. */
export function prepareDataFolder(folder: DataFolder): void {
  makeOwnFolder(folder)
  makePrivateFolder(folder.attachments, false)
  const socketFolder = resolve(folder.socket, '..')
  if (socketFolder !== folder.path) makePrivateFolder(socketFolder, true)
  keepPrivate(folder.lockFile)
}

/** Makes the folder alone. The daemon calls it, or the process that opens its log. Throws as `prepareDataFolder`. */
export function makeOwnFolder({ path }: Pick<DataFolder, 'path'>): void {
  const fresh = !existsSync(path)
  makePrivateFolder(path, false)
  // The folder holds keys, and may lie in a repository. An older folder may hold other work, so it is left alone.
  if (fresh) createPrivate(join(path, '.gitignore'), '*\n')
}

/** Makes the database of an embedded store private, wherever it lies. */
export function prepareDatabase(store: string): void {
  const path = store.startsWith('sqlite:') ? store.slice('sqlite:'.length) : ''
  if (path !== '' && !path.startsWith(':')) keepPrivate(path)
}

/** The folder for the attachments of one integration. It is made when it is missing. */
export function attachmentsFolder(folder: DataFolder, integration: string): string {
  const path = join(folder.attachments, encodeURIComponent(integration).replaceAll('.', '%2E'))
  mkdirSync(path, { recursive: true, mode: 0o700 })
  return path
}

export interface AdminToken {
  readonly token: string
  /** True: the operator chose it, so a public address may be served. */
  readonly configured: boolean
}

/** The admin token: SWITCHBOARD_ADMIN_TOKEN, `server.admin_token` (already resolved), or one made for loopback use. */
export function adminToken(
  folder: DataFolder,
  env: Readonly<Record<string, string | undefined>>,
  configured: string | null,
): AdminToken {
  const chosen = env.SWITCHBOARD_ADMIN_TOKEN || configured
  if (chosen) {
    if (chosen.trim().length < 16) {
      throw new SwitchboardError('config_invalid', 'the admin token is shorter than 16 characters', {
        hint: '`openssl rand -hex 24` makes a good one',
      })
    }
    if (/\s/.test(chosen.trim())) {
      // It is sent as one word of a header, so it could never be used.
      throw new SwitchboardError('config_invalid', 'the admin token holds white space')
    }
    return { token: chosen.trim(), configured: true }
  }
  const kept = readPrivate(folder.adminTokenFile)?.trim()
  if (kept) return { token: kept, configured: false }
  createPrivate(folder.adminTokenFile, `${randomBytes(24).toString('hex')}\n`)
  const token = readPrivate(folder.adminTokenFile)?.trim()
  if (!token)
    throw new SwitchboardError('config_invalid', `${folder.adminTokenFile} is empty`, {
      hint: 'remove it and start again',
    })
  return { token, configured: false }
}

function usualFolder(config: string | null, env: DataFolderConfig['env']): string {
  if (config !== null) return locateInstance({ config, env, cwd: process.cwd() }).data.path
  return env.SWITCHBOARD_DATA ? resolve(env.SWITCHBOARD_DATA) : homeFolder(env)
}

function socketPath(path: string, env: DataFolderConfig['env']): string {
  const beside = join(path, 'switchboard.sock')
  if (Buffer.byteLength(beside) <= SOCKET_PATH_MAX) return beside
  const short = `swb-${createHash('sha256').update(path).digest('hex').slice(0, 16)}`
  const inTemp = join(env.TMPDIR || tmpdir(), short, 's.sock')
  return Buffer.byteLength(inTemp) <= SOCKET_PATH_MAX ? inTemp : join('/tmp', short, 's.sock')
}

/** One by one: Node's recursive way never ends when the kernel refuses a folder (/proc). */
function makeFolders(path: string): void {
  const missing: string[] = []
  for (let at = path; !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.unshift(at)
  for (const each of missing) {
    try {
      mkdirSync(each, { mode: 0o700 })
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
    }
  }
}

/** `guarded`: the parent is open to all, so a folder that another user made first is refused. */
function makePrivateFolder(path: string, guarded: boolean): void {
  try {
    makeFolders(path)
    if (!statSync(path).isDirectory()) throw new Error('is not a folder')
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code ?? 'not a folder'
    throw new SwitchboardError('config_invalid', `the data folder ${path} cannot be made (${code})`, {
      hint: 'choose another one with --data',
      cause: thrown,
    })
  }
  if (process.platform === 'win32') return
  if (!guarded) {
    refuseOpenToOthers(path)
    return
  }
  const { uid, mode } = lstatSync(path)
  if (uid !== process.getuid?.() || !lstatSync(path).isDirectory() || (mode & 0o077) !== 0) {
    throw new SwitchboardError('config_invalid', `${path} belongs to somebody else or is open to others`, {
      hint: 'choose a shorter --data path',
    })
  }
}

/**
 * Its owner, and everybody who may write there, can put a key, a socket or a database in our place. The sticky bit protects only
 * files that exist. The members of a group cannot be known for sure, so no group passes.
 */
function refuseOpenToOthers(path: string): void {
  const { mode, uid } = statSync(path)
  if (isForeign(uid))
    throw new SwitchboardError(
      'config_invalid',
      `the data folder ${path} belongs to another user (uid ${uid})`,
      {
        hint: `that user may put anything there. Name another one with --data, or run: chown ${process.getuid?.()} ${shellWord(path)}`,
      },
    )
  if ((mode & 0o022) === 0) return
  const who = (mode & 0o002) === 0 ? 'its group' : 'everybody'
  throw new SwitchboardError('config_invalid', `the data folder ${path} can be written by ${who}`, {
    hint: `run: chmod 700 ${shellWord(path)} (or name a folder inside of it, which is made for you alone)`,
  })
}
