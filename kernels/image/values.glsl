// The values of an image of dtype T: WHITE is the largest colour. TO_T and TO_T4 make of floats what is stored:
// integers are rounded to the nearest, and clamped.
#if T_IS_FLOAT
const float WHITE = 1.0;
#define TO_T(v) (v)
#define TO_T4(v) (v)
#else
const float WHITE = 255.0;
#define TO_T(v) T(clamp(v, 0.0, 255.0) + 0.5)
#define TO_T4(v) T4(clamp(v, 0.0, 255.0) + 0.5)
#endif
