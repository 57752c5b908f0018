// The instance that a command means: one configuration with its own data folder, daemon and control socket. The file is given
// or found. The folder follows from flags, the environment or the file. Nothing is written here.
import { existsSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { SwitchboardError } from '../../contract/index.ts'

export interface InstanceRequest {
  /** `--config`, `--data` and `--name`, as they were given. */
  readonly config?: string | undefined
  readonly data?: string | undefined
  readonly name?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

export interface Instance {
  readonly name: string
  /** Null: the embedded default. `file` is absolute. Its links are followed when it exists. */
  readonly config: { readonly file: string; readonly from: 'flag' | 'environment' | 'found' } | null
  readonly data: {
    readonly path: string
    readonly from: 'flag' | 'name' | 'environment' | 'beside' | 'home'
  }
}

const CONFIG_NAME = 'switchboard.yaml'
const BESIDE = '.switchboard'
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

/** Throws `input_invalid` for an invalid name. */
export function locateInstance(request: InstanceRequest): Instance {
  const { env, cwd } = request
  const home = homeFolder(env)
  const config = locateConfig(request, home)
  const data = ((): Instance['data'] => {
    if (request.data !== undefined) return { path: resolve(cwd, request.data), from: 'flag' }
    if (request.name !== undefined) return { path: namedFolder(request.name, env), from: 'name' }
    if (env.SWITCHBOARD_DATA) return { path: resolve(cwd, env.SWITCHBOARD_DATA), from: 'environment' }
    if (config !== null) return { path: join(dirname(config.file), BESIDE), from: 'beside' }
    return { path: home, from: 'home' }
  })()
  return { name: instanceName(data.path, env), config, data }
}

/** The folder of the embedded default, of named instances and of the record of known files. */
export function homeFolder(env: InstanceRequest['env']): string {
  return join(env.HOME || homedir(), BESIDE)
}

export function namedInstances(env: InstanceRequest['env']): string {
  return join(homeFolder(env), 'instances')
}

/** The name of an instance for people: its own name, the folder of the project, or `default`. */
export function instanceName(data: string, env: InstanceRequest['env']): string {
  if (data === homeFolder(env)) return 'default'
  return basename(data) === BESIDE ? basename(dirname(data)) : basename(data)
}

/** Whether the folder was named. Then a file that was only found says nothing about it. */
export function folderWasNamed({ data }: Instance): boolean {
  return data.from === 'flag' || data.from === 'name' || data.from === 'environment'
}

/** Follows links. A path that does not exist stays as it is. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

function namedFolder(name: string, env: InstanceRequest['env']): string {
  if (!NAME.test(name) || name.includes('..'))
    throw new SwitchboardError('input_invalid', `--name: "${name}" is not a name`, {
      hint: 'letters, digits, "_", "-" and ".", starting with a letter or digit',
    })
  return join(namedInstances(env), name)
}

function locateConfig({ config, env, cwd }: InstanceRequest, home: string): Instance['config'] {
  if (config !== undefined) return { file: realPath(resolve(cwd, config)), from: 'flag' }
  if (env.SWITCHBOARD_CONFIG)
    return { file: realPath(resolve(cwd, env.SWITCHBOARD_CONFIG)), from: 'environment' }
  const found = findUpwards(cwd, dirname(home))
  return found === null ? null : { file: realPath(found), from: 'found' }
}

/**
 * Looks from the working folder up to the root of the repository or to the home folder. Outside of both it looks only in the
 * working folder, because folders above it belong to no project.
 */
function findUpwards(cwd: string, home: string): string | null {
  const onTheWay: string[] = []
  for (let at = resolve(cwd); ; at = dirname(at)) {
    onTheWay.push(at)
    if (at === home || existsSync(join(at, '.git'))) break
    if (at === dirname(at)) {
      onTheWay.splice(1)
      break
    }
  }
  return onTheWay.map((folder) => join(folder, CONFIG_NAME)).find(isFile) ?? null
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
