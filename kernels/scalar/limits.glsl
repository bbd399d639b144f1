// LEAST and MOST: the ends of dtype D, infinities of floats. Of narrow integers D_LEAST and D_MOST are wider.
#if D_IS_s8
#define LEAST -128
#define MOST 127
#elif D_IS_s16
#define LEAST -32768
#define MOST 32767
#elif D_IS_u8
#define LEAST 0u
#define MOST 255u
#elif D_IS_u16
#define LEAST 0u
#define MOST 65535u
#else
#define LEAST D_LEAST
#define MOST D_MOST
#endif
