// Runs AppleScript through `osascript`. The script is its input. Texts are arguments and never part of the script.
import { spawn } from 'node:child_process'
import { type Clock, SwitchboardError } from '../../contract/index.ts'

const TO_CHAT = `on run argv
	tell application "Messages" to send (item 1 of argv) to chat id (item 2 of argv)
end run
`
const TO_PERSON = `on run argv
	tell application "Messages"
		set theAccount to first account whose service type is iMessage
		send (item 1 of argv) to participant (item 2 of argv) of theAccount
	end tell
end run
`
const FILE_TO_CHAT = `on run argv
	set theFile to POSIX file (item 1 of argv)
	tell application "Messages" to send theFile to chat id (item 2 of argv)
end run
`
const COUNT_CHATS = `on run argv
	tell application "Messages" to count of chats
end run
`
const SCRIPTS = {
  toChat: TO_CHAT,
  toPerson: TO_PERSON,
  fileToChat: FILE_TO_CHAT,
  countChats: COUNT_CHATS,
} as const

const MOST_SAID = 2_000
export const AUTOMATION_HINT =
  'System Settings, Privacy & Security, Automation: let the program that runs Switchboard control Messages'

/** Messages has no such chat open. */
export class NoSuchChat extends SwitchboardError {
  constructor(message: string) {
    super('platform_rejected', message)
  }
}

export type RunScript = (script: keyof typeof SCRIPTS, ...args: readonly string[]) => Promise<void>

/** Throws `platform_unavailable` (nothing was done), `platform_rejected`, or `outcome_unknown`. */
export function createOsascript(deps: {
  readonly clock: Clock
  readonly program: string
  readonly timeoutMs: number
}): RunScript {
  return (script, ...args) =>
    new Promise((resolve, reject) => {
      const child = spawn(deps.program, ['-', ...args], { stdio: ['pipe', 'ignore', 'pipe'] })
      let said = ''
      let over = false
      const end = (error: SwitchboardError | null) => {
        if (over) return
        over = true
        cancel()
        if (error === null) resolve()
        else reject(error)
      }
      const cancel = deps.clock.after(deps.timeoutMs, () => {
        child.kill('SIGKILL')
        end(new SwitchboardError('outcome_unknown', 'osascript did not come back in time'))
      })
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        if (said.length < MOST_SAID) said += chunk
      })
      child.stdin.on('error', () => undefined)
      child.once('error', () =>
        end(new SwitchboardError('platform_unavailable', 'osascript could not be started')),
      )
      child.once('close', (code) => end(code === 0 ? null : meaningOf(said.slice(0, MOST_SAID))))
      child.stdin.end(SCRIPTS[script])
    })
}

function meaningOf(said: string): SwitchboardError {
  const code = /\((-\d{1,6})\)/.exec(said)?.[1] ?? ''
  switch (code) {
    case '-1743':
      return new SwitchboardError(
        'platform_unavailable',
        `-1743: Messages may not be controlled. ${AUTOMATION_HINT}`,
        {
          hint: AUTOMATION_HINT,
          retryAfterMs: 30_000,
        },
      )
    case '-600':
      return new SwitchboardError('platform_unavailable', '-600: Messages is not running', {
        hint: 'open Messages and sign in',
      })
    case '-1712':
      return new SwitchboardError('outcome_unknown', '-1712: Messages did not answer in time')
    case '-1728':
      return new NoSuchChat('-1728: Messages has no such chat open')
    default: {
      const [line = ''] = said.trim().split('\n')
      // AppleScript's errors contain no arguments, so no message text is repeated.
      return new SwitchboardError(
        'platform_rejected',
        `Messages refused it: ${line.slice(0, 200) || 'no reason was given'}`,
      )
    }
  }
}
