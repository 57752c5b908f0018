// A real daemon on a platform that is away for a while: every fault of the TCP proxy, and kill -9 in the middle.
import { describe } from 'vitest'
import { describeOutages } from './play.ts'

describe('[I35.b1] [I35.a1-daemons] a real daemon', () => describeOutages('whatsapp'))
