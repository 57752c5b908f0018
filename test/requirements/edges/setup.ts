// What issue 35 demands: setting up.
import { requirements } from '../row.ts'

export const EDGES_SETUP = requirements(
  'Issue 35 Setting up',
  `
built   35 I35.b6           After the embedded default was used, init and up --detach in a fresh folder start
built   35 I35.b41          agents add and the wizard show a fresh secret first, try after Enter and keep one
built   35 I35.b41-print    agents add without --write keeps nothing and makes no secret; it prints the lines and says what --write makes and keeps
built   35 I35.b41-demo     agents add --write takes a demo agent that nothing else uses out of the file
built   35 I35.b42          Secrets of two platforms can be piped
built   35 I35.b43          agents set leaves closing comments where they were
built   35 I35.b45-tilde    ~ in messaging.file is the home folder
built   35 I35.b46-verify   verify on a Chorus connection asks a JWT and an address: 401 and 403
built   35 I35.b46-seeds-chorus  The Chorus draft holds line by line against the running product, both ends
built   35 I35.b46-notify   A failed notify_user says the reason and nothing before it
built   35 I35.b46-own-side  Each row of the channels reference on Claude Code's own side is shown by a test, or listed as its own with the reason
built   35 I35.b46-seeds    Every row of the seeds that applies holds against the running product
`,
)
