#include <crypt.h>
#include <stdlib.h>
