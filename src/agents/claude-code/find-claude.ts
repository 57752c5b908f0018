// Finds the program and its version when an agent starts or is set up. It sends nothing.
import { execFile } from 'node:child_process'
import { SwitchboardError } from '../../contract/index.ts'
import { INSTALL_HINT } from './launch.ts'

const FIND_MS = 15_000

/**
 * Returns the version. Throws `agent_absent` with a hint if the program is missing, not executable or another program.
 */
export function findClaude(command: string, environment: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = {
      env: { ...environment },
      timeout: FIND_MS,
      killSignal: 'SIGKILL' as const,
      maxBuffer: 65_536,
    }
    execFile(command, ['--version'], options, (error, said) => {
      const version = /(?<!\d)\d+\.\d+\.\d+/.exec(said)?.[0]
      if (!error && version !== undefined) return resolve(version)
      const missing = (error as NodeJS.ErrnoException | null)?.code === 'ENOENT'
      const why = missing ? 'is not on PATH' : 'does not say its version'
      reject(new SwitchboardError('agent_absent', `"${command}" ${why}`, { hint: INSTALL_HINT }))
    })
  })
}
