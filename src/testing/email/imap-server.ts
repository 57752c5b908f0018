// The IMAP side of the fake: connections, IDLE, and the fault plan between a command and its answer.

import type { Server, Socket } from 'node:net'
import { createServer } from 'node:net'
import { createSerial } from '../../contract/index.ts'
import type { FaultPlan } from '../faults/fault-plan.ts'
import { CAPABILITIES, type Credentials, createImapSession } from './imap-session.ts'
import { createCommandReader, parseCommand } from './imap-words.ts'
import type { MailWorld } from './mail-world.ts'
import { underPlan } from './trouble.ts'

export interface LineServerDeps extends Credentials {
  readonly world: MailWorld
  readonly plan: () => FaultPlan
  /** Called with the name of every command. */
  readonly onCommand: (name: string) => void
  /** When true, no connection announces new mail any more. */
  readonly deaf: { is: boolean }
}

export function createImapServer(deps: LineServerDeps): Server {
  return createServer((socket) => serve(socket, deps))
}

function serve(socket: Socket, { world, password, isToken, plan, onCommand, deaf }: LineServerDeps): void {
  const session = createImapSession(world, { password, isToken })
  let idling: string | null = null
  /** An AUTHENTICATE command without its answer. The next line holds the answer. */
  let half: string | null = null
  const inOrder = createSerial()

  const write = (line: string | Buffer) => {
    if (socket.writable) socket.write(Buffer.concat([Buffer.from(line), Buffer.from('\r\n')]))
  }
  const tellNews = () => {
    if (idling === null || deaf.is) return
    for (const line of session.news()) write(line)
  }
  const unwatch = world.onChange(tellNews)

  const take = async (line: string): Promise<void> => {
    if (idling !== null) {
      if (line.toUpperCase() !== 'DONE') return
      const tag = idling
      idling = null
      return write(`${tag} OK no longer idle`)
    }
    const command = parseCommand(half === null ? line : `${half} ${line}`)
    if (command.name === 'AUTHENTICATE' && command.words.length === 1) {
      half = line
      return write('+ ')
    }
    half = null
    const { tag, name } = command
    onCommand(name)
    const trouble = {
      plan,
      socket,
      refuse: (rule: { readonly do: string }) =>
        write(`${tag} NO ${rule.do === 'rate-limit' ? '[LIMIT] too many' : '[SERVERBUG] not today'}`),
      deafen() {
        deaf.is = true
      },
    }
    await underPlan(name, trouble, async () => {
      if (name === 'IDLE') {
        return () => {
          idling = tag
          write('+ idling')
          tellNews()
        }
      }
      if (name === 'LOGOUT')
        return () => {
          write('* BYE so long')
          write(`${tag} OK done`)
          socket.end()
        }
      const { untagged = [], done } = session.run(command)
      return () => {
        for (const one of untagged) write(one)
        write(`${tag} ${done}`)
      }
    })
  }

  const read = createCommandReader({
    command(line) {
      inOrder(() => take(line)).catch(() => socket.destroy())
    },
    wantsLiteral: () => write('+ go on'),
  })
  socket.on('data', (chunk) => {
    try {
      read(chunk)
    } catch {
      socket.destroy()
    }
  })
  socket.on('error', () => undefined)
  socket.on('close', unwatch)
  write(`* OK [CAPABILITY ${CAPABILITIES}] emulated mail`)
}
