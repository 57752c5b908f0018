// The worker that reads mails.
import { serveTasks } from '../../../kit/workers/serve-tasks.ts'
import { LightBlob } from './light-blob.ts'
import { MAIL_TASKS } from './mail-tasks.ts'

// The MIME reader joins each line of a mail by a Blob, and Node's takes 7 µs and 1 kB for a line. This global is the worker's own.
Object.assign(globalThis, { Blob: LightBlob })
serveTasks(MAIL_TASKS)
